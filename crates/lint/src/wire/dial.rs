//! Opens lines to one server.

use super::{
    http::HttpLine,
    inbox::Inbox,
    pipe::{CHILDREN, PipeLine},
    speaker::Speaker,
    sse::SseLine,
};
use std::{fmt, sync::Arc, time::Duration};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_client::{Carrier, ConnectOptions, Target};
use trunkline_process::Command;
use trunkline_protocol::Era;
use trunkline_transport::{
    child::ChildLimits,
    http::{HttpClient, Target as HttpTarget},
};

/// The way to connect to one server, with the timeouts of its lines.
#[derive(Debug, Clone)]
pub struct Dial {
    endpoint: Endpoint,
    /// Timeout of an answer.
    pub answer: Duration,
    /// Upper bound of that timeout on a machine where the server has to wait for a CPU.
    pub longest: Duration,
    /// Time to listen where no answer is expected.
    pub quiet: Duration,
    pub processes: Processes,
}

/// The number of processes of a server that may run at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    SideBySide,
    OneAtATime,
}

#[derive(Clone)]
enum Endpoint {
    Command(Box<Command>, ChildLimits),
    Http(HttpClient, HttpTarget),
    Sse(HttpClient, HttpTarget),
    /// A server inside this process, for tests.
    Inside(Arc<dyn Fn() -> Pair + Send + Sync>),
}

/// The streams we read from and write to.
pub type Pair = (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

/// The reason why a line cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct DialError {
    pub why: String,
}

impl Dial {
    pub fn new(target: &Target, options: &ConnectOptions) -> Result<Self, DialError> {
        let endpoint = match target {
            Target::Command(line) => {
                let mut command = line.command(&options.environment);
                command.grace = CHILDREN;
                Endpoint::Command(Box::new(command), options.process_limits)
            }
            Target::Url(url) => {
                let client = HttpClient::new(options.http.clone()).map_err(DialError::from_error)?;
                let target = HttpTarget::new(url.clone()).map_err(DialError::from_error)?;
                Endpoint::Http(client, target)
            }
        };
        Ok(Self::usual(endpoint))
    }

    /// A server inside this process; each call of `open` starts a new one.
    pub fn inside(open: impl Fn() -> Pair + Send + Sync + 'static) -> Self {
        Self::usual(Endpoint::Inside(Arc::new(open)))
    }

    fn usual(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            answer: Duration::from_secs(5),
            longest: Duration::from_secs(5),
            quiet: Duration::from_millis(150),
            processes: Processes::SideBySide,
        }
    }

    pub fn carrier(&self) -> Carrier {
        match self.endpoint {
            Endpoint::Command(..) | Endpoint::Inside(_) => Carrier::Stdio,
            Endpoint::Http(..) => Carrier::StreamableHttp,
            Endpoint::Sse(..) => Carrier::LegacySse,
        }
    }

    /// The same URL without the caller's headers.
    #[must_use]
    pub fn without_credentials(&self) -> Option<Self> {
        let Endpoint::Http(client, target) = &self.endpoint else { return None };
        let mut options = client.options().clone();
        options.extra_headers.clear();
        let client = HttpClient::new(options).ok()?;
        Some(Self { endpoint: Endpoint::Http(client, target.clone()), ..self.clone() })
    }

    /// True if the caller gave headers, which may carry tokens.
    pub fn has_credentials(&self) -> bool {
        matches!(&self.endpoint, Endpoint::Http(client, _) if !client.options().extra_headers.is_empty())
    }

    /// The URL of the server, if it has one.
    pub fn address(&self) -> Option<&url::Url> {
        match &self.endpoint {
            Endpoint::Http(_, target) | Endpoint::Sse(_, target) => Some(target.url()),
            Endpoint::Command(..) | Endpoint::Inside(_) => None,
        }
    }

    /// The same URL over HTTP+SSE.
    #[must_use]
    pub fn over_sse(&self) -> Option<Self> {
        let Endpoint::Http(client, target) = &self.endpoint else { return None };
        Some(Self { endpoint: Endpoint::Sse(client.clone(), target.clone()), ..self.clone() })
    }

    /// The URL of an HTTP+SSE server, for plain HTTP requests.
    #[must_use]
    pub fn over_http(&self) -> Option<Self> {
        let Endpoint::Sse(client, target) = &self.endpoint else { return None };
        Some(Self { endpoint: Endpoint::Http(client.clone(), target.clone()), ..self.clone() })
    }

    /// Opens a line for `era`. A failure is kept in the line's record.
    pub async fn open(&self, purpose: &'static str, era: Era) -> Speaker {
        let inbox = Inbox::new(purpose);
        let line = match &self.endpoint {
            Endpoint::Command(command, limits) => {
                PipeLine::start(command, *limits, &inbox).map(super::speaker::LineTransport::Pipe)
            }
            Endpoint::Inside(open) => Ok(super::speaker::LineTransport::Pipe(PipeLine::over(open(), &inbox))),
            Endpoint::Http(client, target) => {
                Ok(super::speaker::LineTransport::Http(HttpLine::new(client.clone(), target.clone())))
            }
            Endpoint::Sse(client, target) => {
                SseLine::open(client, target, &inbox).await.map(super::speaker::LineTransport::Sse)
            }
        };
        let line = line.inspect_err(|error| {
            inbox.edit(|record| record.failed = Some(error.why.clone()));
            inbox.close();
        });
        Speaker::new(line, inbox, era, self)
    }
}

impl DialError {
    pub(super) fn from_error(error: impl std::error::Error) -> Self {
        let mut why = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            if !why.contains(&text) {
                why.push_str(": ");
                why.push_str(&text);
            }
            source = error.source();
        }
        Self { why }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command, _) => command.fmt(f),
            Self::Http(_, target) | Self::Sse(_, target) => target.fmt(f),
            Self::Inside(_) => f.write_str("Inside"),
        }
    }
}
