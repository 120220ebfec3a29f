//! The HTTP transport: one endpoint for all revisions, and a few pages about this server.

mod accept;
mod body;
mod cors;
mod dispatch;
mod legacy;
mod modern;
mod response;
mod service;
mod sse;
mod trace_context;

use crate::{access, era::Head, options::Eras, service::Service};
use ::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use response::error;
use std::sync::Arc;
use trunkline_http1::server::{HalfClose, Pending, RequestBody};
use trunkline_protocol::{Caller, Envelope, Era, ErrorObject, Frame, Revision};
use trunkline_transport::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

pub(crate) use body::{BodyRefusal, read as read_body};
pub(crate) use response::{Body, EventSource, Events, empty, events, json, plain, with_retry_after};
pub(crate) use service::{HttpService, Origin, USUAL_HEADERS, stopped};
pub(crate) use sse::SseClients;

/// A request whose caller is known and may use the service.
pub(crate) struct AdmittedRequest {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) headers: HeaderMap,
}

impl AdmittedRequest {
    fn post(self, body: RequestBody) -> Pending<Body> {
        read_body(self, body, Self::receive, BodyRefusal::respond)
    }

    /// Starts to answer a message, as far as that can be done without waiting. A half-close
    /// cancels a modern call, as its revision says, and does not cancel a legacy one.
    fn receive(self, bytes: &Bytes) -> Pending<Body> {
        access::note(|note| note.bytes_in = bytes.len() as u64);
        let mut frame = match Frame::parse(bytes) {
            Ok(frame) => frame,
            Err(malformed) => {
                let error_object = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
                let refusal = error(StatusCode::BAD_REQUEST, malformed.id.as_ref(), error_object);
                return Pending::ready(refusal);
            }
        };
        trace_context::adopt(&mut frame, &self.headers);
        access::note(|note| note.method = method_of(&frame));
        match frame {
            Frame::One(Envelope::Request(request)) => {
                let head = Head::of(request.params.as_ref());
                match self.era(head.era(&request)) {
                    Era::Modern => self.call_modern(request, head),
                    Era::Legacy => self.call_legacy(request, &head),
                }
            }
            Frame::One(Envelope::Notification(notification)) => Pending::ready(match self.era(None) {
                Era::Modern => self.notify_modern(notification),
                Era::Legacy => self.notify_legacy(notification),
            }),
            Frame::One(Envelope::Response(response)) => Pending::ready(match self.era(None) {
                Era::Modern => modern::refuse_response(&response),
                Era::Legacy => self.accept_response(response),
            }),
            Frame::Batch(messages) => {
                Pending::running(async move { self.post_batch(messages).await }, HalfClose::Continues)
            }
        }
    }

    /// The era of a message: declared in the message, else in its headers.
    fn era(&self, declared: Option<Era>) -> Era {
        if let Eras::Only(era) = self.service.options.eras {
            return era;
        }
        if declared.is_none() && self.headers.contains_key(MCP_SESSION_ID) {
            return Era::Legacy;
        }
        let version = || self.headers.get(MCP_PROTOCOL_VERSION)?.to_str().ok()?.parse::<Revision>().ok();
        declared.or_else(|| version().map(Revision::era)).unwrap_or(Era::Legacy)
    }
}

/// The method of a frame that has one.
fn method_of(frame: &Frame) -> Option<std::borrow::Cow<'static, str>> {
    match frame {
        Frame::One(Envelope::Request(request)) => Some(request.method.clone()),
        Frame::One(Envelope::Notification(notification)) => Some(notification.method.clone()),
        Frame::One(Envelope::Response(_)) | Frame::Batch(_) => None,
    }
}

/// 202 for a notification or a response of the client.
fn accepted() -> Response<Body> {
    empty(StatusCode::ACCEPTED)
}
