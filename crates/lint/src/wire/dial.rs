//! How a line to the server is opened, as often as probes need one.

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

/// Opens lines to one server.
#[derive(Debug, Clone)]
pub struct Dial {
    way: Way,
    /// How long an answer may take.
    pub answer: Duration,
    /// How long to listen where nothing should come.
    pub quiet: Duration,
}

#[derive(Clone)]
enum Way {
    Command(Box<Command>, ChildLimits),
    Http(HttpClient, HttpTarget),
    Sse(HttpClient, HttpTarget),
    /// A server inside this process, for tests.
    Inside(Arc<dyn Fn() -> Pair + Send + Sync>),
}

/// What we read from and write to.
pub type Pair = (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

/// Why no line can be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct DialError {
    pub why: String,
}

impl Dial {
    pub fn new(target: &Target, options: &ConnectOptions) -> Result<Self, DialError> {
        let way = match target {
            Target::Command(line) => {
                let mut command = line.command(&options.environment);
                command.grace = CHILDREN;
                Way::Command(Box::new(command), options.process_limits)
            }
            Target::Url(url) => {
                let client = HttpClient::new(options.http.clone()).map_err(DialError::from_error)?;
                let target = HttpTarget::new(url.clone()).map_err(DialError::from_error)?;
                Way::Http(client, target)
            }
        };
        Ok(Self { way, answer: Duration::from_secs(5), quiet: Duration::from_millis(150) })
    }

    /// A server inside this process: each call of `open` is a new one.
    pub fn inside(open: impl Fn() -> Pair + Send + Sync + 'static) -> Self {
        let way = Way::Inside(Arc::new(open));
        Self { way, answer: Duration::from_secs(5), quiet: Duration::from_millis(150) }
    }

    pub fn carrier(&self) -> Carrier {
        match self.way {
            Way::Command(..) | Way::Inside(_) => Carrier::Stdio,
            Way::Http(..) => Carrier::StreamableHttp,
            Way::Sse(..) => Carrier::LegacySse,
        }
    }

    /// The same address, without the headers the caller gave.
    #[must_use]
    pub fn without_credentials(&self) -> Option<Self> {
        let Way::Http(client, target) = &self.way else { return None };
        let mut options = client.options().clone();
        options.extra_headers.clear();
        let client = HttpClient::new(options).ok()?;
        Some(Self { way: Way::Http(client, target.clone()), ..self.clone() })
    }

    /// Whether the caller gave headers of its own, which is how tokens are given.
    pub fn has_credentials(&self) -> bool {
        matches!(&self.way, Way::Http(client, _) if !client.options().extra_headers.is_empty())
    }

    /// The address of the server, if it has one.
    pub fn address(&self) -> Option<&url::Url> {
        match &self.way {
            Way::Http(_, target) | Way::Sse(_, target) => Some(target.url()),
            Way::Command(..) | Way::Inside(_) => None,
        }
    }

    /// The same address, spoken to by HTTP+SSE.
    #[must_use]
    pub fn over_sse(&self) -> Option<Self> {
        let Way::Http(client, target) = &self.way else { return None };
        Some(Self { way: Way::Sse(client.clone(), target.clone()), ..self.clone() })
    }

    /// The address of an HTTP+SSE server, for plain requests.
    #[must_use]
    pub fn over_http(&self) -> Option<Self> {
        let Way::Sse(client, target) = &self.way else { return None };
        Some(Self { way: Way::Http(client.clone(), target.clone()), ..self.clone() })
    }

    /// Opens a line on which `era` will be spoken. What fails is kept in the line's record.
    pub async fn open(&self, purpose: &'static str, era: Era) -> Speaker {
        let inbox = Inbox::new(purpose);
        let line = match &self.way {
            Way::Command(command, limits) => {
                PipeLine::start(command, *limits, &inbox).map(super::speaker::Way::Pipe)
            }
            Way::Inside(open) => Ok(super::speaker::Way::Pipe(PipeLine::over(open(), &inbox))),
            Way::Http(client, target) => {
                Ok(super::speaker::Way::Http(HttpLine::new(client.clone(), target.clone())))
            }
            Way::Sse(client, target) => {
                SseLine::open(client, target, &inbox).await.map(super::speaker::Way::Sse)
            }
        };
        let line = line.inspect_err(|error| {
            inbox.edit(|record| record.failed = Some(error.why.clone()));
            inbox.close();
        });
        Speaker::new(line, inbox, era, (self.answer, self.quiet))
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

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command, _) => command.fmt(f),
            Self::Http(_, target) | Self::Sse(_, target) => target.fmt(f),
            Self::Inside(_) => f.write_str("Inside"),
        }
    }
}
