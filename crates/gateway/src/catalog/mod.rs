//! Catalog: the offers of all servers, as an immutable snapshot that is replaced as a whole.

mod builder;
mod checker;
mod checker_memory;
mod compiled;
mod item;
mod item_access;
mod lock;
mod quarantine;
mod report;
mod route;
mod rules;
mod server_filters;
mod template;

use crate::{policy::Policy, view::View};
use std::{collections::HashMap, sync::Arc};

pub(crate) use builder::{Builder, Plan};
pub(crate) use checker::{Checker, MAX_ARGUMENT_BYTES, Refusal};
pub(crate) use checker_memory::CheckerMemory;
pub(crate) use compiled::Compiled;
pub(crate) use item::named_by;
pub use item_access::ItemAccess;
pub use lock::Drift;
pub use quarantine::Quarantined;
pub(crate) use quarantine::{Reason, shown};
pub use report::{CatalogReport, Kept, ServerReport};
pub use route::{Route, Server};
pub use rules::{BadRules, ItemRules, KindRules, LockRules, OnDrift, Rules, ServerRules};
pub(crate) use server_filters::ServerFilters;
pub(crate) use template::Template;

/// One snapshot.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) policy: Arc<Policy>,
    pub(crate) main: Arc<View>,
    /// Keys: `<view>` and `server/<name>`.
    pub(crate) views: HashMap<Arc<str>, Arc<View>>,
    /// The view `server/<name>` of every server.
    pub(crate) alone: Vec<Arc<View>>,
    pub(crate) report: CatalogReport,
}

impl Catalog {
    /// The view at `address`; the main view for `None`.
    pub(crate) fn view(&self, address: Option<&str>) -> Option<&Arc<View>> {
        match address {
            None => Some(&self.main),
            Some(address) => self.views.get(address),
        }
    }
}
