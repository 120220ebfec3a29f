//! Agreement: the consent of a person to one call.

use super::{Asked, Permit};
use crate::catalog::Server;
use trunkline_protocol::{Call, Raw};

/// A person agreed to one call: this subject with these parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agreement {
    subject: String,
    params: Option<Raw>,
}

impl Agreement {
    pub(crate) fn new(asked: &Asked, call: &Call) -> Self {
        Self { subject: asked.subject.clone(), params: call.params.clone() }
    }

    /// Permission for a call that a person was asked about, if it is the call agreed to.
    pub(crate) fn permit<'a>(&self, asked: &Asked, call: &Call, server: &'a Server) -> Option<Permit<'a>> {
        (*self == Self::new(asked, call)).then(|| Permit::new(server))
    }
}
