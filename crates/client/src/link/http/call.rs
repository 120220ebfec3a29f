//! One request over HTTP and its answer.

use super::{
    super::{
        OnDrop, Outbound,
        report::{fault_of_http, loss_of_http},
    },
    HttpLink,
};
use crate::{
    frame_tap::{Direction, FrameTap},
    inbox::{Arrival, Loss, LossKind},
    switchboard::Ticket,
};
use bytes::Bytes;
use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, ready},
};
use trunkline_protocol::{
    Envelope, Era, Fault, FaultKind, Frame, Malformed, Notification, Object, Raw, Request, RequestId, method,
};
use trunkline_transport::{
    headers::MCP_SESSION_ID,
    http::HttpError,
    streamable_http::{Exchange, Reconnect, Resume},
};

pub(crate) struct HttpCall {
    link: Arc<HttpLink>,
    id: RequestId,
    /// A legacy server may answer this request on the session's own stream, too.
    ticket: Option<Ticket>,
    /// `None` once the answer is complete.
    exchange: Option<Exchange>,
    /// True from the first poll on: the server may have got the request.
    sent: bool,
    /// Further messages of a batch.
    arrived: VecDeque<Arrival>,
    on_drop: OnDrop,
    opens_session: bool,
    /// True if the request named a session. The link's own may be another by the time of the
    /// answer, or none while a new one is opened.
    names_session: bool,
    /// Set when the head of the response has arrived.
    status: Option<u16>,
}

impl HttpCall {
    pub(in crate::link) fn new(link: &Arc<HttpLink>, outbound: Outbound) -> Box<Self> {
        let Outbound { request, mut headers, on_drop, standing } = outbound;
        let (id, opens_session) = (request.id.clone(), request.method == method::INITIALIZE);
        // A modern server takes a closed stream as cancellation; only a legacy stream can be
        // resumed.
        let (resume, names_session) = {
            let session = link.session();
            session.add_to(&mut headers);
            let legacy = session.era() == Some(Era::Legacy);
            let resume = legacy
                .then(|| Resume::LastEventId { headers: session.headers(), reconnect: Reconnect::default() });
            (resume, session.id.is_some())
        };
        let ticket = resume.as_ref().map(|_| link.board().expect(id.clone(), standing));
        let body = Envelope::from(request).to_bytes();
        FrameTap::observe(link.tap.as_ref(), Direction::Sent, &body);
        let exchange = link.endpoint.begin(body, headers, resume.unwrap_or(Resume::Never));
        Box::new(Self {
            link: link.clone(),
            id,
            ticket,
            exchange: Some(exchange),
            sent: false,
            arrived: VecDeque::new(),
            on_drop,
            opens_session,
            names_session,
            status: None,
        })
    }

    pub(in crate::link) fn status(&self) -> Option<u16> {
        self.status
    }

    pub(in crate::link) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        let arrival = ready!(self.poll_arrival(cx));
        if arrival.is_last() {
            self.finish();
        }
        Poll::Ready(arrival)
    }

    fn poll_arrival(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        loop {
            if let Some(arrival) = self.arrived.pop_front() {
                return Poll::Ready(arrival);
            }
            match self.poll_exchange(cx) {
                Poll::Ready(Some(arrival)) => return Poll::Ready(arrival),
                Poll::Ready(None) => {}
                Poll::Pending => {
                    return self.ticket.as_mut().map_or(Poll::Pending, |ticket| ticket.poll_next(cx));
                }
            }
        }
    }

    /// The next message; `None` if it is not for this call.
    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<Option<Arrival>> {
        let Some(exchange) = &mut self.exchange else { return Poll::Ready(Some(ended())) };
        self.sent = true;
        let polled = exchange.poll_next(cx);
        if self.status.is_none()
            && let Some(status) = exchange.status()
        {
            self.status = Some(status.as_u16());
            if self.opens_session {
                self.link.session().id = exchange.header(&MCP_SESSION_ID);
            }
        }
        Poll::Ready(match ready!(polled) {
            Ok(Some(frame)) => self.receive(&frame),
            Ok(None) => Some(ended()),
            Err(error) if self.status.is_none() => Some(self.refused(&error)),
            Err(error) => Some(Arrival::Lost(loss_of_http(&error))),
        })
    }

    /// The body of an HTTP error may hold the JSON-RPC response.
    fn refused(&mut self, error: &HttpError) -> Arrival {
        let HttpError::Status(refusal) = error else { return Arrival::Lost(loss_of_http(error)) };
        let status = refusal.status.as_u16();
        self.status = Some(status);
        FrameTap::observe(self.link.tap.as_ref(), Direction::Received, &refusal.body);
        if status == 404 && self.names_session {
            let fault = Fault::new(FaultKind::ConnectionLost, "the server no longer knows our session");
            return Arrival::Lost(Loss { fault, how: LossKind::Session });
        }
        if !matches!(status, 401 | 403 | 429)
            && let Ok(Envelope::Response(response)) = Envelope::parse(&refusal.body)
            && response.id.as_ref().is_none_or(|id| *id == self.id)
            && response.outcome.is_err()
        {
            return Arrival::Response(response.outcome);
        }
        Arrival::Lost(Loss { fault: fault_of_http(error), how: LossKind::Status(status) })
    }

    fn receive(&mut self, frame: &Bytes) -> Option<Arrival> {
        FrameTap::observe(self.link.tap.as_ref(), Direction::Received, frame);
        match Frame::parse_answer(frame) {
            Ok(Frame::One(envelope)) => self.sort(envelope),
            Ok(Frame::Batch(messages)) if self.link.has_batches() => {
                for message in messages {
                    let arrival = match message {
                        Ok(envelope) => self.sort(envelope),
                        Err(malformed) => Some(unreadable(&malformed)),
                    };
                    self.arrived.extend(arrival);
                }
                None
            }
            Ok(Frame::Batch(_)) => Some(lost(FaultKind::BadAnswer, "the server answered with a batch")),
            Err(malformed) => Some(unreadable(&malformed)),
        }
    }

    fn sort(&self, envelope: Envelope) -> Option<Arrival> {
        match envelope {
            // An error without an id on this stream can only mean this request.
            Envelope::Response(response) if response.id.as_ref().is_none_or(|id| *id == self.id) => {
                Some(Arrival::Response(response.outcome))
            }
            Envelope::Notification(notification) => Some(Arrival::Notification(notification)),
            Envelope::Request(request) => self.ask(request),
            Envelope::Response(_) => {
                self.link.board().dispatch(envelope, &self.link.outlet());
                None
            }
        }
    }

    fn ask(&self, request: Request) -> Option<Arrival> {
        let outlet = self.link.outlet();
        if request.method == method::PING {
            self.link.board().reply(&outlet, request.id, Ok(Raw::empty_object()));
            return None;
        }
        self.link.board().question(request, &outlet)
    }

    /// The answer is complete. Reads a stream that has not ended yet to its end, so that its
    /// connection can be reused.
    fn finish(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            exchange.finish();
        }
    }

    /// In the legacy era closing the stream does not cancel; a notification must be sent.
    fn must_send_cancelled(&self) -> bool {
        let open = self.sent && self.exchange.is_some();
        open && self.on_drop == OnDrop::Cancel && self.is_legacy()
    }

    fn is_legacy(&self) -> bool {
        self.link.session().era() == Some(Era::Legacy)
    }
}

impl Drop for HttpCall {
    fn drop(&mut self) {
        if !self.must_send_cancelled() {
            return;
        }
        let mut params = Object::new();
        params.set("requestId", self.id.raw().clone());
        params.set("reason", Raw::string("the caller no longer waits"));
        let notification = Notification::new(method::CANCELLED, Some(params.to_raw()));
        let link = self.link.clone();
        self.link.cancellations.send(async move { link.notify(notification).await });
    }
}

fn ended() -> Arrival {
    lost(FaultKind::ConnectionLost, "the server ended its answer without a response")
}

fn unreadable(malformed: &Malformed) -> Arrival {
    lost(FaultKind::BadAnswer, &format!("the server's answer is malformed: {malformed}"))
}

fn lost(kind: FaultKind, why: &str) -> Arrival {
    Arrival::Lost(Loss { fault: Fault::new(kind, why), how: LossKind::Line })
}
