//! Line: one connection of HTTP, and what its requests have in common.

use super::answer::Answer;
use crate::{access, doors::Doors};
use ::http::{Request, Response};
use futures_util::future::BoxFuture;
use hyper::{body::Incoming, service::Service};
use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
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

/// Answers the requests of one connection. It never fails: what goes wrong is an answer, too.
pub(crate) struct Front(pub(crate) Arc<Line>);

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
}

impl Service<Request<Incoming>> for Front {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let line = &self.0;
        line.spoken.store(true, Ordering::Relaxed);
        let Some(hook) = line.doors.main.options.access.clone() else { return super::answer(line, request) };
        let line = line.clone();
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

impl Future for Answering {
    type Output = Result<Response<Answer>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_answer(cx).map(Ok)
    }
}
