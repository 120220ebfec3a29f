//! Line: one connection of HTTP, and what its requests have in common.

use super::{answer::Answer, connection::Incoming};
use crate::{access, doors::Doors};
use ::http::{Request, Response};
use futures_util::future::BoxFuture;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

pub(crate) struct Line {
    pub(crate) doors: Arc<Doors>,
    pub(crate) peer: SocketAddr,
    /// The port that the client came to.
    pub(crate) port: u16,
    /// Whether anything was asked yet.
    spoken: AtomicBool,
}

/// An answer, or the way to one. Connections hold room for it while they are idle, so it is small.
pub(crate) enum Answering {
    Now(Option<Box<Response<Answer>>>),
    Later(BoxFuture<'static, Response<Answer>>),
}

impl Line {
    pub(crate) fn new(doors: Arc<Doors>, peer: SocketAddr, port: u16) -> Arc<Self> {
        Arc::new(Self { doors, peer, port, spoken: AtomicBool::new(false) })
    }

    pub(crate) fn has_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed)
    }

    /// Answers a request. It never fails: what goes wrong is an answer, too.
    pub(super) fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Answering {
        self.spoken.store(true, Ordering::Relaxed);
        let Some(hook) = self.doors.main.options.access.clone() else { return super::answer(self, request) };
        let line = self.clone();
        Answering::later(async move {
            let peer = line.peer;
            let (response, finish) =
                access::watched(hook, request, peer, |request| super::answer(&line, request).answer()).await;
            response.map(|body| body.watched(finish))
        })
    }
}

impl Answering {
    pub(super) fn now(response: Response<Answer>) -> Self {
        Self::Now(Some(Box::new(response)))
    }

    pub(super) fn later(answer: impl Future<Output = Response<Answer>> + Send + 'static) -> Self {
        Self::Later(Box::pin(answer))
    }

    pub(super) fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Response<Answer>> {
        match self {
            Self::Now(response) => {
                Poll::Ready(*response.take().expect("an answer is not asked for again once it was given"))
            }
            Self::Later(answer) => answer.as_mut().poll(cx),
        }
    }

    pub(super) async fn answer(mut self) -> Response<Answer> {
        std::future::poll_fn(|cx| self.poll_answer(cx)).await
    }
}
