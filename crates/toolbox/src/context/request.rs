//! Request: the parts that every call has besides its own parameters.

use super::Metas;
use std::{sync::Arc, time::Instant};
use trunkline_protocol::{
    Call, Caller, Era, Fault, FaultKind, Object, Raw, Revision,
    message::{InputResponses, Level, RequestMeta},
};

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) caller: Arc<Caller>,
    pub(crate) revision: Revision,
    pub(crate) meta: Arc<RequestMeta>,
    pub(crate) log_level: Option<Level>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) input_responses: Option<Object>,
    pub(crate) state: Option<String>,
}

impl Request {
    /// Extracts the common parts of a call from its parameters.
    pub(crate) fn read(call: &Call, params: &Object, metas: &Metas) -> Result<Self, Fault> {
        let meta = match params.get("_meta") {
            Some(meta) => metas.read(meta).map_err(|e| invalid(format!("`_meta` cannot be read: {e}")))?,
            None => Arc::default(),
        };
        let log_level = match &meta.log_level {
            Some(level) => Some(level.parse::<Level>().map_err(|e| invalid(e.to_string()))?),
            None => (call.revision.era() == Era::Legacy).then_some(Level::UNSET),
        };
        let input_responses = match params.get("inputResponses") {
            Some(responses) => Some(
                responses
                    .decode::<InputResponses>()
                    .map_err(|e| invalid(format!("`inputResponses` cannot be read: {e}")))?
                    .0,
            ),
            None => None,
        };
        let request_state = params.get("requestState").map(Raw::decode::<String>).transpose();
        let request_state = request_state.map_err(|_| invalid("`requestState` is not a text"))?;
        Ok(Self {
            caller: Arc::clone(&call.caller),
            revision: call.revision,
            meta,
            log_level,
            deadline: call.deadline,
            input_responses,
            state: request_state,
        })
    }

    pub(crate) fn declares_extension(&self, name: &str) -> bool {
        self.meta.client_capabilities.as_ref().is_some_and(|c| c.extension(name).is_some())
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::InvalidRequest, message)
}
