//! POST of a modern client: one request, answered by itself.

use super::{
    Visit, accepted,
    answer::{
        Answer, EventSource, error, event_of, events, respond, retry_after, turned_away, with_retry_after,
    },
};
use crate::era::{Head, ModernRequest, Refused, check_version};
use ::http::{Response, StatusCode};
use std::mem::take;
use trunkline_protocol::{
    Envelope, ErrorObject, Notification, Notify, Request, RequestId, Response as RpcResponse, method,
};

impl Visit {
    /// Answers a request.
    pub(super) async fn ask_modern(&mut self, request: Request, head: Head) -> Response<Answer> {
        let id = request.id.clone();
        let request = match self.checked(request, head) {
            Ok(request) => request,
            Err(refused) => return refuse(&id, refused),
        };
        if request.method == method::TOOLS_CALL {
            let rules = match self.service.tool_headers.known(&self.caller) {
                Some(rules) => rules,
                None => Box::pin(self.service.tool_headers.learn(&self.service, &self.caller)).await,
            };
            if let Err(refused) = request.check_arguments(&self.headers, &rules) {
                return refuse(&id, refused);
            }
        }
        if self.service.identity.get().is_none() {
            // Every result names the server; a handler that has no name is served all the same.
            drop(Box::pin(self.service.introduction(&self.caller, request.meta())).await);
        }
        let mut reply = request.begin(&self.service, self.caller.clone());
        match reply.next().await {
            Some(Envelope::Response(response)) => {
                let status = response.outcome.as_ref().map_or_else(status_of, |_| StatusCode::OK);
                let wait = response.outcome.as_ref().err().and_then(retry_after);
                with_retry_after(respond(take(&mut self.headers), status, response), wait)
            }
            Some(first) => {
                let keep_alive = self.service.options.limits.keep_alive;
                events(Answer::events(
                    Some(event_of(&first)),
                    EventSource::Modern(Box::new(reply)),
                    keep_alive,
                ))
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
