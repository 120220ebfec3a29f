//! One request over HTTP and what its answer brings.

use super::{
    super::{
        OnDrop, Outbound,
        report::{fault_of_http, loss_of_http},
    },
    HttpLink,
};
use crate::{
    inbox::{Arrival, Loss, LossKind},
    switchboard::Ticket,
    tap::{Direction, Tap},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::{collections::VecDeque, sync::Arc};
use trunkline_protocol::{
    Envelope, Era, Fault, FaultKind, Frame, Malformed, Notification, Object, Raw, Request, RequestId, method,
};
use trunkline_transport::{
    headers::MCP_SESSION_ID,
    http::HttpError,
    streamable_http::{Exchange, Resume},
};

pub(crate) struct HttpCall {
    link: Arc<HttpLink>,
    id: RequestId,
    /// A legacy server may speak of this request on the session's own stream, too.
    ticket: Option<Ticket>,
    stage: Stage,
    arrived: VecDeque<Arrival>,
    on_drop: OnDrop,
    opens_session: bool,
    status: Option<u16>,
}

enum Stage {
    Unsent(Box<Outbound>),
    /// Kept here and not in a local future, so that nothing is sent twice when the caller stops asking and asks again.
    Sending(BoxFuture<'static, Result<Exchange, HttpError>>),
    Open(Box<Exchange>),
    Done,
}

/// What the transport said.
enum Heard {
    Begun(Box<Exchange>),
    Refused(HttpError),
    Frame(Bytes),
    End,
    Broken(HttpError),
}

impl Stage {
    async fn next(&mut self, link: &Arc<HttpLink>) -> Heard {
        *self = match std::mem::replace(self, Self::Done) {
            Self::Unsent(outbound) => Self::Sending(send(link, *outbound)),
            other => other,
        };
        match self {
            Self::Sending(answer) => match answer.await {
                Ok(exchange) => Heard::Begun(Box::new(exchange)),
                Err(error) => Heard::Refused(error),
            },
            Self::Open(exchange) => match exchange.next().await {
                Ok(Some(frame)) => Heard::Frame(frame),
                Ok(None) => Heard::End,
                Err(error) => Heard::Broken(error),
            },
            Self::Unsent(_) | Self::Done => Heard::End,
        }
    }
}

fn send(link: &Arc<HttpLink>, outbound: Outbound) -> BoxFuture<'static, Result<Exchange, HttpError>> {
    let Outbound { request, mut headers, .. } = outbound;
    let era = {
        let session = link.session();
        session.add_to(&mut headers);
        session.era()
    };
    // A modern server takes a closed stream for a cancellation; only a legacy session can be taken up again.
    let resume = if era == Some(Era::Legacy) { link.resume() } else { Resume::Never };
    let body = Envelope::from(request).to_bytes();
    let link = link.clone();
    Box::pin(async move { link.post(body, headers, resume).await })
}

impl HttpCall {
    pub(in crate::link) fn new(link: &Arc<HttpLink>, outbound: Outbound) -> Self {
        let (id, on_drop) = (outbound.request.id.clone(), outbound.on_drop);
        let legacy = link.session().era() == Some(Era::Legacy);
        Self {
            ticket: legacy.then(|| link.board().expect(id.clone(), outbound.standing.clone())),
            link: link.clone(),
            id,
            opens_session: outbound.request.method == method::INITIALIZE,
            stage: Stage::Unsent(Box::new(outbound)),
            arrived: VecDeque::new(),
            on_drop,
            status: None,
        }
    }

    pub(in crate::link) fn status(&self) -> Option<u16> {
        self.status
    }

    pub(in crate::link) async fn next(&mut self) -> Arrival {
        let arrival = self.advance().await;
        if matches!(arrival, Arrival::Response(_) | Arrival::Lost(_)) {
            self.finish();
        }
        arrival
    }

    async fn advance(&mut self) -> Arrival {
        loop {
            if let Some(arrival) = self.arrived.pop_front() {
                return arrival;
            }
            let heard = match &self.ticket {
                None => self.stage.next(&self.link).await,
                Some(ticket) => tokio::select! {
                    heard = self.stage.next(&self.link) => heard,
                    arrival = ticket.inbox.next() => return arrival,
                },
            };
            match heard {
                Heard::Begun(exchange) => self.begun(exchange),
                Heard::Refused(error) => return self.refused(&error),
                Heard::Frame(frame) => self.receive(&frame),
                Heard::End => {
                    return lost(FaultKind::ConnectionLost, "the server ended its answer without a response");
                }
                Heard::Broken(error) => return Arrival::Lost(loss_of_http(&error)),
            }
        }
    }

    fn begun(&mut self, exchange: Box<Exchange>) {
        self.status = Some(exchange.status.as_u16());
        if self.opens_session {
            self.link.session().id = exchange.headers.get(MCP_SESSION_ID).cloned();
        }
        self.stage = Stage::Open(exchange);
    }

    /// An HTTP error may hold the response all the same.
    fn refused(&mut self, error: &HttpError) -> Arrival {
        let HttpError::Status(refusal) = error else { return Arrival::Lost(loss_of_http(error)) };
        let status = refusal.status.as_u16();
        self.status = Some(status);
        Tap::see(self.link.tap.as_ref(), Direction::Received, &refusal.body);
        if status == 404 && self.link.session().id.is_some() {
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

    fn receive(&mut self, frame: &Bytes) {
        Tap::see(self.link.tap.as_ref(), Direction::Received, frame);
        match Frame::parse(frame) {
            Ok(Frame::One(envelope)) => self.sort(envelope),
            Ok(Frame::Batch(messages)) if self.link.has_batches() => {
                for message in messages {
                    match message {
                        Ok(envelope) => self.sort(envelope),
                        Err(malformed) => self.malformed(&malformed),
                    }
                }
            }
            Ok(Frame::Batch(_)) => {
                self.arrived.push_back(lost(FaultKind::BadAnswer, "the server answered with a batch"));
            }
            Err(malformed) => self.malformed(&malformed),
        }
    }

    fn malformed(&mut self, malformed: &Malformed) {
        self.arrived
            .push_back(lost(FaultKind::BadAnswer, &format!("the server's answer is malformed: {malformed}")));
    }

    fn sort(&mut self, envelope: Envelope) {
        match envelope {
            Envelope::Response(response) if response.id.as_ref() == Some(&self.id) => {
                self.arrived.push_back(Arrival::Response(response.outcome));
            }
            // Nothing else can be meant by an error on this stream that names no request.
            Envelope::Response(response) if response.id.is_none() => {
                self.arrived.push_back(Arrival::Response(response.outcome));
            }
            Envelope::Notification(notification) => {
                self.arrived.push_back(Arrival::Notification(notification));
            }
            Envelope::Request(request) => self.ask(request),
            Envelope::Response(_) => self.link.board().dispatch(envelope, &self.link.outlet()),
        }
    }

    fn ask(&mut self, request: Request) {
        let outlet = self.link.outlet();
        if request.method == method::PING {
            return self.link.board().reply(&outlet, request.id, Ok(Raw::empty_object()));
        }
        self.arrived.extend(self.link.board().question(request, &outlet));
    }

    /// The answer is there. A stream that has not ended yet is read to its end, so that its connection can be used again.
    fn finish(&mut self) {
        if let Stage::Open(exchange) = std::mem::replace(&mut self.stage, Stage::Done) {
            exchange.finish();
        }
    }

    /// In the legacy era leaving is not cancelling; it must be said.
    fn must_say_cancelled(&self) -> bool {
        let open = matches!(self.stage, Stage::Sending(_) | Stage::Open(_));
        open && self.on_drop == OnDrop::Cancel && self.is_legacy()
    }

    fn is_legacy(&self) -> bool {
        self.link.session().era() == Some(Era::Legacy)
    }
}

impl Drop for HttpCall {
    fn drop(&mut self) {
        if !self.must_say_cancelled() {
            return;
        }
        let mut params = Object::new();
        params.set("requestId", self.id.raw().clone());
        params.set("reason", Raw::string("the caller no longer waits"));
        let notification = Notification::new(method::CANCELLED, Some(params.to_raw()));
        let link = self.link.clone();
        self.link.farewells.say(async move { link.notify(notification).await });
    }
}

fn lost(kind: FaultKind, why: &str) -> Arrival {
    Arrival::Lost(Loss { fault: Fault::new(kind, why), how: LossKind::Line })
}
