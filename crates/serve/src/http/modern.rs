//! POST of a modern client: one request, answered by itself.

use super::{
    Begun, Rare, Visit, accepted,
    answer::{
        Answer, EventSource, Events, error, event_of, events, respond, retry_after, turned_away,
        with_retry_after,
    },
};
use crate::era::{Head, ModernReply, ModernRequest, Refused, check_version};
use ::http::{Response, StatusCode};
use std::mem::take;
use trunkline_protocol::{
    Envelope, ErrorObject, Notification, Notify, Request, RequestId, Response as RpcResponse, method,
};

impl Visit {
    /// Begins a call, or says why not.
    pub(super) fn begin_modern(&self, request: Request, head: Head) -> Begun {
        let id = request.id.clone();
        let request = match self.checked(request, head) {
            Ok(request) => request,
            Err(refused) => return Begun::answered(refuse(&id, refused)),
        };
        let rules = match (request.method.as_ref(), self.service.tool_headers.known(&self.caller)) {
            (method::TOOLS_CALL, None) => return Begun::Rare(Rare::Unready(Box::new(request))),
            (method::TOOLS_CALL, rules) => rules,
            _ => None,
        };
        if self.service.identity.get().is_none() {
            return Begun::Rare(Rare::Unready(Box::new(request)));
        }
        let checked = rules.map_or(Ok(()), |rules| request.check_arguments(&self.headers, &rules));
        match checked {
            Ok(()) => Begun::Modern(request.begin(&self.service, self.caller.clone())),
            Err(refused) => Begun::answered(refuse(&id, refused)),
        }
    }

    /// Learns what has to be known of the handler before a call, and begins it.
    pub(super) async fn prepare_modern(
        &self,
        request: ModernRequest,
    ) -> Result<ModernReply, Box<Response<Answer>>> {
        if request.method == method::TOOLS_CALL {
            let rules = self.service.tool_headers.rules(&self.service, &self.caller).await;
            let checked = request.check_arguments(&self.headers, &rules);
            checked.map_err(|refused| Box::new(refuse(&request.id, refused)))?;
        }
        if self.service.identity.get().is_none() {
            // Every result names the server; a handler that has no name is served all the same.
            drop(self.service.introduction(&self.caller, request.meta()).await);
        }
        Ok(request.begin(&self.service, self.caller.clone()))
    }

    /// Brings a call to its end, or as far as its answer becomes a stream.
    pub(super) async fn answer_modern(&mut self, mut reply: ModernReply) -> Response<Answer> {
        match reply.next().await {
            Some(Envelope::Response(response)) => {
                let status = response.outcome.as_ref().map_or_else(status_of, |_| StatusCode::OK);
                let wait = response.outcome.as_ref().err().and_then(retry_after);
                with_retry_after(respond(take(&mut self.headers), status, response), wait)
            }
            Some(first) => {
                let keep_alive = self.service.options.limits.keep_alive;
                let source =
                    EventSource { events: Events::Modern(Box::new(reply)), phase: self.service.phase() };
                events(Answer::events(Some(event_of(&first)), source, keep_alive))
            }
            None => error(
                StatusCode::INTERNAL_SERVER_ERROR,
                None,
                ErrorObject::new(-32603, "there was no answer"),
            ),
        }
    }

    pub(super) fn hear_modern(&self, notification: Notification) -> Response<Answer> {
        self.service.handler.notify(Notify { notification, caller: self.caller.clone() });
        accepted()
    }

    fn checked(&self, request: Request, head: Head) -> Result<ModernRequest, Refused> {
        check_version(&self.headers, &head)?;
        let request = ModernRequest::read(request, head)?;
        request.check_headers(&self.headers)?;
        Ok(request)
    }
}

pub(super) fn refuse_answer(response: &RpcResponse) -> Response<Answer> {
    let text = "a modern client answers questions by calling again";
    error(StatusCode::BAD_REQUEST, response.id.as_ref(), ErrorObject::new(-32600, text))
}

fn refuse(id: &RequestId, refused: Refused) -> Response<Answer> {
    let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::BAD_REQUEST);
    error(status, Some(id), refused.error)
}

/// The HTTP status that goes with an error of the protocol.
fn status_of(error: &ErrorObject) -> StatusCode {
    match error.code {
        -32601 => StatusCode::NOT_FOUND,
        -32022..=-32020 | -32600 | -32700 => StatusCode::BAD_REQUEST,
        _ => turned_away(error).unwrap_or(StatusCode::OK),
    }
}
