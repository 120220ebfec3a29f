//! The members of a request that several checks need, extracted in one pass.

use trunkline_protocol::{
    Era, Raw, Request,
    message::meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION},
    method,
};

#[derive(Default)]
pub(crate) struct Head {
    pub(super) meta: Option<Raw>,
    /// Revision 2025-11-25 only: asks to run the call as a task.
    pub(crate) task: Option<Raw>,
    pub(super) answers: Option<Raw>,
    pub(super) state: Option<Raw>,
    /// The protocol version in `_meta`.
    pub(super) version: Option<Raw>,
    pub(super) capabilities: Option<Raw>,
}

impl Head {
    pub(crate) fn of(params: Option<&Raw>) -> Self {
        let Some(params) = params else { return Self::default() };
        let [meta, task, answers, state] = params.pick(["_meta", "task", "inputResponses", "requestState"]);
        let [version, capabilities] = meta
            .as_ref()
            .map_or([const { None }; 2], |meta| meta.pick([PROTOCOL_VERSION, CLIENT_CAPABILITIES]));
        Self { meta, task, answers, state, version, capabilities }
    }

    /// Modern if the request names a version in `_meta` or uses a method that only the modern era
    /// has. `None` if the request does not tell.
    pub(crate) fn era(&self, request: &Request) -> Option<Era> {
        (request.method == method::DISCOVER || self.version.is_some()).then_some(Era::Modern)
    }
}
