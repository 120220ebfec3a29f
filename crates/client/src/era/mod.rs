//! Requests in the form that the server's era wants.

mod declare;
mod lift;
mod task;
mod write;

pub(crate) use declare::{covers, declarable, needed_for};
pub(crate) use lift::{introduction, lift_error, stripped};
pub(crate) use task::{add_outcome, flat, flat_created};
pub(crate) use write::{Speech, capabilities};

use crate::{meta_cache::ServerMeta, resilience::Safety, switchboard::Standing};
use std::{borrow::Cow, sync::Arc};
use trunkline_protocol::{Object, method};

/// A request before it is written for its server.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Object,
    pub(crate) progress: Progress,
    /// Arguments that the tool wants repeated as headers: name and value.
    pub(crate) mirrored: Vec<(String, String)>,
    /// Tells if it may be sent again after the first attempt was lost.
    pub(crate) safety: Safety,
    pub(crate) standing: Standing,
    /// The caller's `_meta`, rewritten for the server and already in `params`; `None` for our own
    /// requests.
    pub(crate) meta: Option<Arc<ServerMeta>>,
}

/// Tells if the caller wants progress notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Progress {
    #[default]
    Unwanted,
    Wanted,
}

impl Ask {
    pub(crate) fn new(method: impl Into<Cow<'static, str>>, params: Object) -> Self {
        let method = method.into();
        // A tool may do anything, so a call is sent once unless the caller knows better. A method
        // we do not know is treated like a tool.
        let safety = if method::only_asks(&method) { Safety::Repeatable } else { Safety::AtMostOnce };
        Self {
            method,
            params,
            progress: Progress::Unwanted,
            mirrored: Vec::new(),
            safety,
            standing: Standing::Own,
            meta: None,
        }
    }
}
