//! POST of a modern client: each request is stateless.

use super::{
    AdmittedRequest, accepted,
    response::{
        Body, EventSource, Events, error, events, respond, retry_after, turned_away, with_retry_after,
    },
};
use crate::{
    era::{Head, ModernReply, ModernRequest, Refused, check_version},
    outgoing::{event_of, held},
};
use ::http::{Response, StatusCode};
use trunkline_http1::server::{HalfClose, Pending};
use trunkline_protocol::{
    Envelope, ErrorObject, Notification, Notify, Request, RequestId, Response as RpcResponse, method,
};
use trunkline_resilience::hold;

impl AdmittedRequest {
    pub(super) fn call_modern(self, request: Request, head: Head) -> Pending<Body> {
        let id = request.id.clone();
        let request = match self.checked(request, head) {
            Ok(request) => request,
            Err(refused) => return Pending::ready(refuse(&id, refused)),
        };
        let is_tool = request.method == method::TOOLS_CALL;
        let rules = if is_tool { self.service.tool_headers.known(&self.caller) } else { None };
        if self.service.identity.get().is_none() || (is_tool && rules.is_none()) {
            return Pending::running(self.prepare_and_call(request), HalfClose::Cancels);
        }
        let checked = rules.map_or(Ok(()), |rules| request.check_arguments(&self.headers, &rules));
        if let Err(refused) = checked {
            return Pending::ready(refuse(&id, refused));
        }
        let reply = request.begin(&self.service, self.caller.clone(), None);
        Pending::running(self.answer_modern(reply), HalfClose::Cancels)
    }

    /// Gets the handler's tools and identity first, then makes the call.
    async fn prepare_and_call(self, request: ModernRequest) -> Response<Body> {
        match self.prepare(request).await {
            Ok(reply) => self.answer_modern(reply).await,
            Err(refusal) => *refusal,
        }
    }

    async fn prepare(&self, request: ModernRequest) -> Result<ModernReply, Box<Response<Body>>> {
        if request.method == method::TOOLS_CALL {
            let rules = self.service.tool_headers.rules(&self.service, &self.caller).await;
            let checked = request.check_arguments(&self.headers, &rules);
            checked.map_err(|refused| Box::new(refuse(&request.id, refused)))?;
        }
        if self.service.identity.get().is_none() {
            self.service.identify(&self.caller, request.meta()).await;
        }
        Ok(request.begin(&self.service, self.caller.clone(), None))
    }

    /// Waits for the first message: the result becomes the response, anything else a stream.
    async fn answer_modern(self, mut reply: ModernReply) -> Response<Body> {
        match reply.next().await {
            Some(Envelope::Response(response)) => {
                let status = response.outcome.as_ref().map_or_else(status_of, |_| StatusCode::OK);
                let wait = response.outcome.as_ref().err().and_then(retry_after);
                with_retry_after(respond(self.headers, status, response), wait)
            }
            Some(first) => {
                let keep_alive = self.service.options.limits.keep_alive;
                let source =
                    EventSource { events: Events::Modern(Box::new(reply)), phase: self.service.phase() };
                events(Body::events(held(&first, event_of, hold), source, keep_alive))
            }
            None => error(
                StatusCode::INTERNAL_SERVER_ERROR,
                None,
                ErrorObject::new(-32603, "the call ended without a response"),
            ),
        }
    }

    pub(super) fn notify_modern(&self, notification: Notification) -> Response<Body> {
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

pub(super) fn refuse_response(response: &RpcResponse) -> Response<Body> {
    let text = "a modern client answers questions by calling again";
    error(StatusCode::BAD_REQUEST, response.id.as_ref(), ErrorObject::new(-32600, text))
}

fn refuse(id: &RequestId, refused: Refused) -> Response<Body> {
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
