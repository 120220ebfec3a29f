//! What differs between the eras on the way out: how a request is dressed for the server it goes to.

mod declare;
mod dress;
mod lift;
mod task;

pub(crate) use declare::{covers, declarable, needed_for};
pub(crate) use dress::{Speech, capabilities};
pub(crate) use lift::{introduction, lift_error, stripped};
pub(crate) use task::{add_outcome, flat, flat_created};

use crate::{conversation::safety_of, resilience::Safety, switchboard::Standing, wardrobe::Worn};
use std::{borrow::Cow, sync::Arc};
use trunkline_protocol::Object;

/// A request before it is dressed.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Object,
    pub(crate) progress: Progress,
    /// Arguments that the tool wants repeated as headers: name and value.
    pub(crate) mirrored: Vec<(String, String)>,
    /// Whether it may be sent a second time when the first got lost.
    pub(crate) safety: Safety,
    pub(crate) standing: Standing,
    /// What became of the `_meta` of a caller that this is passed on for: it stands in `params` as it goes out.
    pub(crate) worn: Option<Arc<Worn>>,
}

/// Whether the caller wants to hear how far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Progress {
    #[default]
    Unwanted,
    Wanted,
}

impl Ask {
    pub(crate) fn new(method: impl Into<Cow<'static, str>>, params: Object) -> Self {
        let method = method.into();
        let safety = safety_of(&method);
        Self {
            method,
            params,
            progress: Progress::Unwanted,
            mirrored: Vec::new(),
            safety,
            standing: Standing::Own,
            worn: None,
        }
    }
}
