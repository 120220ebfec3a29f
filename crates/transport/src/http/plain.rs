//! Connections over plain `http`, kept for the next request.
//!
//! A connection comes back as soon as the head of an answer is there; whether it can take another request is asked when one
//! comes, because only then does it matter. So nothing runs beside a request but the connection itself. Secure connections,
//! which may speak HTTP/2, are the business of the other pool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use tokio::time::Instant;
use tower_service::Service;

use super::connector::Connector;
use super::error::HttpError;
use super::options::HttpOptions;
use super::target::Target;

/// The pool of plain connections.
pub(super) struct PlainPool {
    connector: Connector,
    kept: Arc<Kept>,
    sweeping: Once,
}

/// Connections by the authority they lead to, those in use for an answer included.
struct Kept {
    places: Mutex<HashMap<String, Vec<Connection>>>,
    most: usize,
    idle: Duration,
}

struct Connection {
    sender: SendRequest<Full<Bytes>>,
    since: Instant,
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
    ) -> Result<Response<Incoming>, HttpError> {
        request.uri_mut().clone_from(target.path());
        request.headers_mut().entry(header::HOST).or_insert_with(|| target.host().clone());
        let authority = target.authority();
        while let Some(mut sender) = self.kept.take_soon(authority).await {
            match sender.try_send_request(request).await {
                Ok(response) => {
                    self.kept.keep(authority, sender);
                    return Ok(response);
                }
                // The server hung up while the connection lay here. What was not sent may be sent elsewhere.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(HttpError::from_broken(error.into_error().into())),
                },
            }
        }
        let mut sender = self.connect(target).await?;
        let response =
            sender.send_request(request).await.map_err(|error| HttpError::from_broken(error.into()))?;
        self.kept.keep(authority, sender);
        Ok(response)
    }

    async fn connect(&self, target: &Target) -> Result<SendRequest<Full<Bytes>>, HttpError> {
        self.sweeping.call_once(|| {
            tokio::spawn(sweep(Arc::downgrade(&self.kept)));
        });
        let stream = self.connector.clone().call(target.uri().clone()).await?;
        let (sender, connection) =
            http1::handshake(stream).await.map_err(|error| HttpError::from_broken(error.into()))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
        Ok(sender)
    }
}

impl Kept {
    /// A connection that can take a request. One whose answer has just ended may need a moment to notice.
    async fn take_soon(&self, authority: &str) -> Option<SendRequest<Full<Bytes>>> {
        match self.take(authority) {
            Taken::Ready(sender) => Some(sender),
            Taken::None => None,
            Taken::Busy => {
                tokio::task::yield_now().await;
                match self.take(authority) {
                    Taken::Ready(sender) => Some(sender),
                    Taken::None | Taken::Busy => None,
                }
            }
        }
    }

    fn take(&self, authority: &str) -> Taken {
        let mut places = self.places();
        let Some(connections) = places.get_mut(authority) else { return Taken::None };
        connections.retain(|connection| self.is_of_use(connection));
        // The one used last is the least likely to have been closed.
        match connections.iter().rposition(|connection| connection.sender.is_ready()) {
            Some(at) => Taken::Ready(connections.remove(at).sender),
            None if connections.is_empty() => Taken::None,
            None => Taken::Busy,
        }
    }

    fn keep(&self, authority: &str, sender: SendRequest<Full<Bytes>>) {
        let mut places = self.places();
        let connections = match places.get_mut(authority) {
            Some(connections) => connections,
            None => places.entry(authority.to_owned()).or_default(),
        };
        if connections.len() >= self.most {
            connections.retain(|connection| self.is_of_use(connection));
        }
        // Beyond the limit it is closed behind its answer.
        if connections.len() < self.most && !sender.is_closed() {
            connections.push(Connection { sender, since: Instant::now() });
        }
    }

    fn is_of_use(&self, connection: &Connection) -> bool {
        !connection.sender.is_closed() && connection.since.elapsed() < self.idle
    }

    fn places(&self) -> MutexGuard<'_, HashMap<String, Vec<Connection>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Taken {
    Ready(SendRequest<Full<Bytes>>),
    /// There are some, all with an answer under way.
    Busy,
    None,
}

/// Lets go of what nobody used for long, as long as there is a pool.
async fn sweep(kept: std::sync::Weak<Kept>) {
    loop {
        let Some(idle) = kept.upgrade().map(|kept| kept.idle) else { return };
        tokio::time::sleep(idle).await;
        let Some(kept) = kept.upgrade() else { return };
        kept.places().retain(|_, connections| {
            connections.retain(|connection| kept.is_of_use(connection));
            !connections.is_empty()
        });
    }
}
