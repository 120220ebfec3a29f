//! The parts that the catalogs of all callers share.

use super::{GatewayOptions, MAX_PAGE_SIZE, blocking_check, listeners::Listeners, tasks::TaskOwners};
use crate::{
    catalog::CheckerMemory,
    rewrite::{States, TaskIds},
    view::{Cursors, ListOptions},
};
use std::sync::Arc;
use tokio::sync::Semaphore;

pub(super) struct Shared {
    pub(super) options: GatewayOptions,
    pub(super) lists: ListOptions,
    pub(super) ids: Arc<TaskIds>,
    pub(super) states: Arc<States>,
    pub(super) started: TaskOwners,
    pub(super) listeners: Arc<Listeners>,
    /// Permits for argument checks on blocking threads.
    pub(super) checks: Arc<Semaphore>,
    pub(super) checkers: Arc<CheckerMemory>,
}

impl Shared {
    pub(super) fn new(options: GatewayOptions) -> Self {
        Self {
            lists: ListOptions {
                page_size: options.page_size.clamp(1, MAX_PAGE_SIZE),
                ttl: options.list_ttl,
                cursors: Arc::new(Cursors::new()),
            },
            ids: Arc::new(TaskIds::new()),
            states: Arc::new(States::new(&options.states)),
            started: TaskOwners::default(),
            listeners: Listeners::new(options.listeners_per_caller, options.listeners),
            checks: Arc::new(Semaphore::new(blocking_check::MAX_CHECKS)),
            checkers: Arc::default(),
            options,
        }
    }
}
