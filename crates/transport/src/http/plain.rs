//! Connections over plain `http`, kept for the next request.
//!
//! Whoever asks and reads the answer moves the connection along ([`Line`]), so that no other task has to be woken for it. It comes
//! back when the answer has been read to its end. Secure connections, which may speak HTTP/2, are the business of the other pool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use tower_service::Service;

use super::arriving::Arriving;
use super::connector::Connector;
use super::error::HttpError;
use super::line::{Line, Unanswered};
use super::options::HttpOptions;
use super::target::Target;

/// The pool of plain connections.
pub(super) struct PlainPool {
    connector: Connector,
    kept: Arc<Kept>,
    sweeping: Once,
}

/// Unused connections by the authority they lead to.
pub(super) struct Kept {
    places: Mutex<HashMap<Arc<str>, Vec<Line>>>,
    most: usize,
    idle: Duration,
}

impl PlainPool {
    pub(super) fn new(connector: Connector, options: &HttpOptions) -> Self {
        let kept =
            Kept { places: Mutex::default(), most: options.pool_max_idle, idle: options.pool_idle_timeout };
        Self { connector, kept: Arc::new(kept), sweeping: Once::new() }
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn request(
        &self,
        target: &Target,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Arriving>, HttpError> {
        request.uri_mut().clone_from(target.path());
        request.headers_mut().entry(header::HOST).or_insert_with(|| target.host().clone());
        loop {
            let (mut line, origin) = match self.kept.take(target.authority()).await {
                Some(line) => (line, Origin::Kept),
                None => (self.connect(target).await?, Origin::New),
            };
            match line.ask(request).await {
                Ok(response) => {
                    return Ok(response.map(|body| Arriving::on(line, Arc::clone(&self.kept), body)));
                }
                // The server hung up while the connection lay here. What was not sent may be sent elsewhere.
                Err(Unanswered::Unsent(unsent, _)) if origin == Origin::Kept => request = *unsent,
                Err(Unanswered::Unsent(_, error) | Unanswered::Broken(error)) => return Err(error),
            }
        }
    }

    async fn connect(&self, target: &Target) -> Result<Line, HttpError> {
        self.sweeping.call_once(|| {
            tokio::spawn(sweep(Arc::downgrade(&self.kept)));
        });
        let stream = self.connector.clone().call(target.uri().clone()).await?;
        Line::open(stream, target.authority().into()).await
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Kept,
    New,
}

impl Kept {
    /// A connection that can take a request.
    async fn take(&self, authority: &str) -> Option<Line> {
        loop {
            // The one used last is the least likely to have been closed.
            let mut line = self.places().get_mut(authority)?.pop()?;
            if !line.is_older_than(self.idle) && line.is_ready().await {
                return Some(line);
            }
        }
    }

    pub(super) fn keep(&self, mut line: Line) {
        line.rest();
        let mut places = self.places();
        let lines = match places.get_mut(line.authority()) {
            Some(lines) => lines,
            None => places.entry(Arc::clone(line.authority())).or_default(),
        };
        // Beyond the limit it is closed.
        if lines.len() < self.most {
            lines.push(line);
        }
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Line>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets go of what nobody used for long, as long as there is a pool.
async fn sweep(kept: std::sync::Weak<Kept>) {
    loop {
        let Some(idle) = kept.upgrade().map(|kept| kept.idle) else { return };
        tokio::time::sleep(idle).await;
        let Some(kept) = kept.upgrade() else { return };
        kept.places().retain(|_, lines| {
            lines.retain(|line| !line.is_older_than(kept.idle));
            !lines.is_empty()
        });
    }
}
