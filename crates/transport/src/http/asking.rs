//! One request over a plain connection, until the head of its answer is there.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::time::Instant;
use trunkline_resilience::overslept;

use super::PlainPool;
use super::body::PlainBody;
use super::head::Answered;
use super::line::{Line, Unanswered};
use crate::http::answer::Answer;
use crate::http::arriving::Arriving;
use crate::http::connector::Connecting;
use crate::http::error::HttpError;
use crate::http::sending::Request;

#[derive(Default)]
pub(in crate::http) struct Asking(Stage);

#[derive(Default)]
enum Stage {
    #[default]
    Unsent,
    /// And since when, the first time.
    Connecting(Connecting, Option<Instant>),
    Open {
        line: Box<Line>,
        origin: Origin,
    },
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Kept,
    New,
}

impl Asking {
    pub(in crate::http) fn poll(
        &mut self,
        pool: &PlainPool,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Answer, HttpError>> {
        loop {
            match &mut self.0 {
                Stage::Unsent => {
                    self.0 = match pool.kept.take(request.opening.target.authority()) {
                        Some(line) => Stage::open(line, Origin::Kept, request),
                        None => Stage::connecting(pool, request, Some(Instant::now())),
                    }
                }
                Stage::Connecting(connecting, since) => {
                    let stream = ready!(connecting.as_mut().poll(cx))?;
                    let authority = request.opening.target.authority().into();
                    let line = Box::new(Line::new(stream, authority));
                    // A server does not wait for ever for a request that could not be sent because this process was stopped.
                    let is_stale = since.is_some_and(overslept) && !line.is_quiet();
                    self.0 = if is_stale {
                        Stage::connecting(pool, request, None)
                    } else {
                        Stage::open(line, Origin::New, request)
                    };
                }
                Stage::Open { line, origin } => {
                    let answered = ready!(line.poll_answer(cx));
                    match answered {
                        Ok(answered) => return Poll::Ready(Ok(self.answered(answered, pool))),
                        // The server hung up while the connection lay here. What was not sent may be sent elsewhere.
                        Err(Unanswered::Unsent(_)) if *origin == Origin::Kept => self.0 = Stage::Unsent,
                        Err(Unanswered::Unsent(error) | Unanswered::Broken(error)) => {
                            self.0 = Stage::Over;
                            return Poll::Ready(Err(error));
                        }
                    }
                }
                Stage::Over => return Poll::Pending,
            }
        }
    }

    fn answered(&mut self, answered: Answered, pool: &PlainPool) -> Answer {
        let Answered { head, framing, after } = answered;
        let Stage::Open { line, .. } = std::mem::replace(&mut self.0, Stage::Over) else {
            unreachable!("only an open connection is answered")
        };
        let body = PlainBody::new(line, Arc::clone(&pool.kept), framing, after);
        Answer { head, body: Arriving::plain(body) }
    }
}

impl Stage {
    fn connecting(pool: &PlainPool, request: &Request, since: Option<Instant>) -> Self {
        Self::Connecting(pool.connect(&request.opening.target), since)
    }

    fn open(mut line: Box<Line>, origin: Origin, request: &Request) -> Self {
        line.load(request);
        Self::Open { line, origin }
    }
}
