//! Opens connections: name lookup, TCP and TLS under one timeout, with a separate error for each.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;
use trunkline_resilience::timeout;

use super::connect_error::{ConnectError, ConnectFailure};
use super::options::HttpOptions;
use super::tls::Tls;
use crate::foreign::{AddressGuard, AddressPolicy, literal};

/// Detects a dead peer on a long, quiet stream.
const TCP_KEEP_ALIVE: Duration = Duration::from_mins(1);

pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
/// A plain connection being opened.
pub(super) type Connecting = BoxFuture<Result<TcpStream, ConnectError>>;
type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The connector under the connection pool.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector<Resolver>,
    tls: Arc<Tls>,
    addresses: AddressPolicy,
    timeout: Duration,
}

/// The resolver below a connector, with its own error type, so that lookup failures can be
/// recognised. The connector connects to the addresses that it returns, so a guard is asked once.
#[derive(Clone)]
enum Resolver {
    System(GaiResolver),
    Guarded(Arc<AddressGuard>),
}

#[derive(Debug, thiserror::Error)]
#[error("the host name cannot be resolved")]
pub(super) struct LookupFailed(#[source] std::io::Error);

impl Connector {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let resolver = match &options.addresses {
            AddressPolicy::Any => Resolver::System(GaiResolver::new()),
            AddressPolicy::Guarded(guard) => Resolver::Guarded(Arc::clone(guard)),
        };
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(TCP_KEEP_ALIVE));
        // Divided among the addresses of a name, so that one that does not answer leaves time for
        // the others.
        tcp.set_connect_timeout(Some(options.connect_timeout));
        let tls = Tls::new(options.ca_certificates.clone(), options.client_certificate.clone());
        Self {
            tcp,
            tls: Arc::new(tls),
            addresses: options.addresses.clone(),
            timeout: options.connect_timeout,
        }
    }

    /// Connects without TLS.
    pub(super) fn plain(&self, uri: &Uri) -> Connecting {
        self.in_time(uri, self.clone().connect_plain(uri.clone()))
    }

    async fn connect_plain(mut self, uri: Uri) -> Result<TcpStream, ConnectFailure> {
        self.check_literal(&uri)?;
        let stream = self.tcp.call(uri).await;
        let stream = stream.map_err(|error| ConnectFailure::from_source(error.into(), self.timeout))?;
        Ok(stream.into_inner())
    }

    async fn connect(self, uri: Uri) -> Result<Stream, ConnectFailure> {
        let after = self.timeout;
        if uri.scheme() != Some(&Scheme::HTTPS) {
            return Ok(MaybeHttpsStream::Http(TokioIo::new(self.connect_plain(uri).await?)));
        }
        self.check_literal(&uri)?;
        let config = self.tls.config().await.map_err(ConnectFailure::Tls)?;
        let mut https = HttpsConnector::from((self.tcp, config));
        https.enforce_https();
        https.call(uri).await.map_err(|error| ConnectFailure::from_source(error, after))
    }

    /// Checks a host that is an address: the resolver below is asked for names only.
    fn check_literal(&self, uri: &Uri) -> Result<(), ConnectFailure> {
        let AddressPolicy::Guarded(guard) = &self.addresses else { return Ok(()) };
        let host = uri.host().unwrap_or_default();
        match literal(host) {
            Some(address) => guard.check(host, address).map_err(ConnectFailure::Forbidden),
            None => Ok(()),
        }
    }

    fn in_time<T: 'static>(
        &self,
        uri: &Uri,
        connecting: impl Future<Output = Result<T, ConnectFailure>> + Send + 'static,
    ) -> BoxFuture<Result<T, ConnectError>> {
        let after = self.timeout;
        let authority = uri.authority().map_or_else(String::new, ToString::to_string);
        Box::pin(async move {
            let outcome = timeout(after, connecting).await;
            let outcome = outcome.unwrap_or(Err(ConnectFailure::TimedOut { after }));
            outcome.map_err(|failure| ConnectError { authority, failure })
        })
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = ConnectError;
    type Future = BoxFuture<Result<Stream, ConnectError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        self.in_time(&uri, self.clone().connect(uri.clone()))
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = LookupFailed;
    type Future = BoxFuture<Result<Self::Response, LookupFailed>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LookupFailed>> {
        match self {
            Self::System(resolver) => resolver.poll_ready(cx).map_err(LookupFailed),
            Self::Guarded(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, name: Name) -> Self::Future {
        match self {
            Self::System(resolver) => {
                let lookup = resolver.call(name);
                Box::pin(async move {
                    let addresses = lookup.await.map_err(LookupFailed)?;
                    Ok(addresses.collect::<Vec<_>>().into_iter())
                })
            }
            Self::Guarded(guard) => {
                let lookup = Arc::clone(guard).resolve(name.as_str().to_owned());
                Box::pin(async move {
                    let addresses = lookup.await.map_err(LookupFailed)?;
                    // The connector sets the port.
                    let with_port = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
                    Ok(with_port.collect::<Vec<_>>().into_iter())
                })
            }
        }
    }
}
