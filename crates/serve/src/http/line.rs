//! Line: one connection of HTTP, and what its requests have in common.

use super::{
    answer::Answer,
    connection::{BadHead, Incoming},
};
use crate::{access, doors::Doors};
use ::http::{Request, Response};
use futures_util::future::BoxFuture;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{sync::Notify, time::Instant};

/// How many milliseconds a connection may take for a first word, or for the rest of a head, when others wait for its place.
const A_WORD: u64 = 1000;
/// Instead of a time: a request is under way.
const BUSY: u64 = u64::MAX;
/// Instead of a time: it was waiting, and somebody else gets its place.
const DISMISSED: u64 = u64::MAX - 1;

pub(crate) struct Line {
    pub(crate) doors: Arc<Doors>,
    pub(crate) peer: SocketAddr,
    /// The port that the client came to.
    pub(crate) port: u16,
    /// Since when it waits for a request, in milliseconds of the server's life, or one of the words above. What has begun to
    /// speak counts as waiting a word later.
    waits: AtomicU64,
    dismissed: Notify,
}

/// An answer, or the way to one. Connections hold room for it while they are idle, so it is small.
pub(crate) enum Answering {
    Now(Option<Box<Response<Answer>>>),
    Later(BoxFuture<'static, Response<Answer>>),
}

impl Line {
    pub(crate) fn new(doors: Arc<Doors>, peer: SocketAddr, port: u16) -> Arc<Self> {
        let waits = AtomicU64::new(doors.age(Instant::now()) + A_WORD);
        Arc::new(Self { doors, peer, port, waits, dismissed: Notify::new() })
    }

    /// Milliseconds of the server's life.
    pub(crate) fn now(&self) -> u64 {
        self.doors.age(Instant::now())
    }

    /// Since when it waits for a request, if it does.
    pub(crate) fn waits_since(&self) -> Option<u64> {
        Some(self.waits.load(Ordering::Relaxed)).filter(|since| *since < DISMISSED)
    }

    /// Gives its place to somebody else, unless it has changed meanwhile.
    pub(crate) fn dismiss(&self, since: u64) {
        if self.waits.compare_exchange(since, DISMISSED, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.dismissed.notify_one();
        }
    }

    /// Resolves when it was dismissed. Whether that still holds says [`Self::is_dismissed`].
    pub(crate) async fn dismissed(&self) {
        self.dismissed.notified().await;
    }

    pub(super) fn is_dismissed(&self) -> bool {
        self.waits.load(Ordering::Relaxed) == DISMISSED
    }

    /// The next request is waited for.
    pub(super) fn rests(&self, since: Instant) {
        self.waits.store(self.doors.age(since), Ordering::Relaxed);
    }

    /// A part of a request is there.
    pub(super) fn begins(&self, at: Instant) {
        self.waits.store(self.doors.age(at) + A_WORD, Ordering::Relaxed);
    }

    /// Answers a request. It never fails: what goes wrong is an answer, too.
    pub(super) fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Answering {
        self.waits.store(BUSY, Ordering::Relaxed);
        let Some(hook) = self.doors.main.options.access.clone() else { return super::answer(self, request) };
        let line = self.clone();
        Answering::later(async move {
            let peer = line.peer;
            let (response, finish) =
                access::watched(hook, request, peer, |request| super::answer(&line, request).answer()).await;
            response.map(|body| body.watched(finish))
        })
    }

    /// Tells of a request that was refused unread.
    pub(super) fn refused(&self, bad: BadHead) {
        self.waits.store(BUSY, Ordering::Relaxed);
        tracing::debug!(error = %bad, "a request is refused unread");
        if let Some(hook) = &self.doors.main.options.access {
            hook(access::Access::refused(self.peer.ip(), bad.status().as_u16(), bad.to_string()));
        }
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
