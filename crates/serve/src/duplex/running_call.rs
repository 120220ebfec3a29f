//! [`RunningCall`]: the future that runs one request of a duplex client and sends its messages.

use super::Duplex;
use crate::{
    era::{LegacyReply, ModernReply, Out},
    outgoing::Sending,
    session::Underway,
};
use futures_util::future::{AbortRegistration, Abortable, Aborted, BoxFuture};
use std::{
    panic::{self, AssertUnwindSafe},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use trunkline_protocol::{Envelope, ErrorObject, RequestId, Response};

/// Resolves when the response is sent or the request is cancelled; dropping it cancels the call.
/// A panic in the call is caught and becomes an error response.
pub(crate) struct RunningCall {
    client: Arc<Duplex>,
    reply: Answering,
    /// A message that waits for space in the outgoing queue.
    sending: Option<Sending>,
}

#[expect(clippy::large_enum_variant, reason = "each call is already boxed")]
enum Answering {
    Legacy(LegacyReply, Underway),
    Modern(BoxFuture<'static, Result<(), Aborted>>, RequestId),
    Done,
}

impl RunningCall {
    pub(super) fn legacy(client: Arc<Duplex>, reply: LegacyReply, underway: Underway) -> Self {
        Self { client, reply: Answering::Legacy(reply, underway), sending: None }
    }

    pub(super) fn modern(
        client: Arc<Duplex>,
        mut reply: ModernReply,
        id: RequestId,
        aborted: AbortRegistration,
    ) -> Self {
        let out = client.outgoing.clone();
        let mut phase = reply.is_subscription().then(|| client.service.phase());
        let driven = async move {
            while let Some(message) = match &mut phase {
                Some(phase) => reply.next_until(phase).await,
                None => reply.next().await,
            } {
                if let Some(sending) = out.send(&message) {
                    sending.await;
                }
            }
        };
        let driven = Box::pin(Abortable::new(driven, aborted));
        Self { client, reply: Answering::Modern(driven, id), sending: None }
    }

    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(sending) = &mut self.sending {
                ready!(sending.as_mut().poll(cx));
                self.sending = None;
            }
            match &mut self.reply {
                Answering::Legacy(reply, underway) => match ready!(reply.poll_unless(underway, cx)) {
                    Some(Out::Message(message)) => self.sending = self.client.outgoing.send(&message),
                    Some(Out::Detach) => {}
                    None => return Poll::Ready(()),
                },
                Answering::Modern(driven, id) => {
                    // An aborted call was already removed from `calls`, and its id may have been
                    // reused.
                    if ready!(driven.as_mut().poll(cx)).is_ok() {
                        self.client.calls.lock().remove(id);
                    }
                    return Poll::Ready(());
                }
                Answering::Done => return Poll::Ready(()),
            }
        }
    }

    /// Sends the error response of a call that panicked.
    fn broken(&mut self) -> Option<Sending> {
        let id = match std::mem::replace(&mut self.reply, Answering::Done) {
            Answering::Legacy(_, underway) => underway.id().clone(),
            Answering::Modern(_, id) => {
                self.client.calls.lock().remove(&id);
                id
            }
            Answering::Done => return None,
        };
        let error = ErrorObject::new(-32603, "the call panicked; see the server's log");
        self.client.outgoing.send(&Envelope::from(Response::new(id, Err(error))))
    }
}

impl Future for RunningCall {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Ok(advanced) = panic::catch_unwind(AssertUnwindSafe(|| this.advance(cx))) {
            return advanced;
        }
        this.sending = this.broken();
        this.advance(cx)
    }
}
