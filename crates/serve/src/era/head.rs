//! What a request says of itself, read in one walk for all who look at it.

use trunkline_protocol::{
    Era, Raw, Request,
    message::meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION},
    method,
};

#[derive(Default)]
pub(crate) struct Head {
    pub(super) meta: Option<Raw>,
    /// 2025-11-25: the call shall be a task.
    pub(crate) task: Option<Raw>,
    pub(super) answers: Option<Raw>,
    pub(super) state: Option<Raw>,
    /// The revision that the request names.
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

    /// The era that the request says it belongs to, or to which it must, because only its clients ask such a thing.
    pub(crate) fn era(&self, request: &Request) -> Option<Era> {
        (request.method == method::DISCOVER || self.version.is_some()).then_some(Era::Modern)
    }
}
