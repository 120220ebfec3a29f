//! Detects transport and era: Streamable HTTP in both eras, then HTTP+SSE.

use super::{
    Site,
    request::{self, Reply, post},
};
use crate::{
    conversation::Answer,
    diagnosis::Problem,
    frames::{self, Reading},
};
use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use std::time::{Duration, Instant};
use trunkline_client::{RevisionChoice, raw};
use trunkline_protocol::Era;
use trunkline_transport::{
    headers::MCP_SESSION_ID,
    http::{HttpClient, HttpError},
    legacy_sse,
};

/// The first JSON-RPC answer of a server.
#[derive(Debug)]
pub(super) struct Contact {
    pub(super) transport: HttpTransport,
    pub(super) answer: Answer,
    /// The `Mcp-Session-Id` it assigned.
    pub(super) session: Option<HeaderValue>,
    /// The status line, or a description of the stream.
    pub(super) head: String,
    /// Time until the answer.
    pub(super) took: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpTransport {
    Streamable,
    LegacySse,
}

/// The failed attempts, if no transport worked.
#[derive(Debug)]
pub(super) struct Failed {
    /// The outcome of each POST, in order.
    pub(super) posts: Vec<Result<Reply, HttpError>>,
    /// The error of HTTP+SSE, if it was tried.
    pub(super) stream: Option<HttpError>,
    /// Set if no request could be sent, for instance because of an invalid header.
    pub(super) unusable: Option<Box<Problem>>,
}

pub(super) async fn make(site: &Site<'_>) -> Result<Contact, Box<Failed>> {
    let nothing = |problem| Failed { posts: Vec::new(), stream: None, unusable: Some(problem) };
    let client = request::client(site).map_err(|problem| Box::new(nothing(problem)))?;
    let mut posts = Vec::new();
    let mut refusal = None;
    for (id, era) in (1..).zip(order(site.options.speak)) {
        let answer = ask(site, &client, era, id).await;
        let reply = match &answer {
            Ok(reply) => reply,
            Err(error) => {
                let hopeless = !matches!(error, HttpError::Broken(_) | HttpError::Timeout { .. });
                posts.push(answer);
                if hopeless || id == 2 {
                    break;
                }
                continue;
            }
        };
        match reply.message().map(|message| frames::read(message, era)) {
            Some(Reading::Introduced(introduction)) if !wants_handshake(&introduction) => {
                let session = reply.headers.get(MCP_SESSION_ID).cloned();
                let head = short_head(reply);
                return Ok(Contact {
                    transport: HttpTransport::Streamable,
                    answer: Answer::Introduced(introduction),
                    session,
                    head,
                    took: reply.after,
                });
            }
            Some(Reading::Refused(error)) => {
                refusal = Some((error, reply.status.as_u16(), reply.after));
            }
            _ => {}
        }
        let shut = matches!(reply.status.as_u16(), 401 | 403 | 407 | 421 | 429);
        posts.push(answer);
        if shut {
            break;
        }
    }
    let shut =
        posts.iter().flatten().any(|reply| matches!(reply.status.as_u16(), 401 | 403 | 407 | 421 | 429));
    let dead = posts.iter().all(Result::is_err);
    let stream = if shut || dead { None } else { Some(try_legacy_sse(site, &client).await) };
    match (stream, refusal) {
        (Some(Ok(contact)), _) => Ok(contact),
        // The server speaks JSON-RPC and answers every request with an error.
        (_, Some((error, status, took)))
            if !matches!(status, 401 | 403 | 404 | 405 | 406 | 415 | 421 | 429 | 500..) =>
        {
            let head = format!("status {status}");
            let (transport, answer) = (HttpTransport::Streamable, Answer::Refused(error));
            Ok(Contact { transport, answer, session: None, head, took })
        }
        (stream, _) => Err(Box::new(Failed { posts, stream: stream.and_then(Result::err), unusable: None })),
    }
}

fn order(speak: RevisionChoice) -> [Era; 2] {
    match frames::eras(speak) {
        [Era::Legacy] => [Era::Legacy, Era::Modern],
        _ => [Era::Modern, Era::Legacy],
    }
}

async fn ask(site: &Site<'_>, client: &HttpClient, era: Era, id: u64) -> Result<Reply, HttpError> {
    let frame = frames::first(era, site.options.speak, id);
    let mut headers = HeaderMap::new();
    if era == Era::Modern {
        raw::add_modern_headers(&mut headers, &frame);
    }
    post(site, client, &frame, headers).await
}

fn wants_handshake(introduction: &frames::Introduction) -> bool {
    introduction.era == Era::Modern
        && introduction.shared().is_some_and(|revision| revision.era() == Era::Legacy)
}

/// HTTP+SSE: opens the stream, posts `initialize`, and reads the answer from the stream.
async fn try_legacy_sse(site: &Site<'_>, client: &HttpClient) -> Result<Contact, HttpError> {
    let start = Instant::now();
    let connection = legacy_sse::Connection::open(client, site.address.as_str(), HeaderMap::new()).await?;
    let (sender, mut receiver) = connection.split();
    let frame = frames::first(Era::Legacy, RevisionChoice::Newest, 1);
    sender.send(frame.to_string().into()).await?;
    let limit = site.options.limits.step;
    let waiting = async {
        while let Some(bytes) = receiver.next().await? {
            let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            if frames::answers(&message, 1) {
                return Ok(message);
            }
        }
        Err(HttpError::NoEndpoint)
    };
    let message = tokio::time::timeout(limit, waiting).await.unwrap_or_else(|_| {
        Err(HttpError::Timeout { phase: trunkline_transport::http::Phase::Endpoint, limit })
    })?;
    let answer = match frames::read(&message, Era::Legacy) {
        Reading::Introduced(introduction) => Answer::Introduced(introduction),
        Reading::Refused(error) => Answer::Refused(error),
        Reading::Odd => Answer::Refused(message),
    };
    let head = format!("an event stream; messages go to {}", sender.endpoint());
    Ok(Contact { transport: HttpTransport::LegacySse, answer, session: None, head, took: start.elapsed() })
}

fn short_head(reply: &Reply) -> String {
    format!("status {}", reply.status)
}

impl HttpTransport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Streamable => "Streamable HTTP",
            Self::LegacySse => "HTTP+SSE (2024-11-05)",
        }
    }
}

impl Failed {
    /// Head and duration of the last answer.
    pub(super) fn head(&self) -> (String, Duration) {
        let last = self.posts.iter().rev().find_map(|post| post.as_ref().ok());
        last.map_or_else(
            || ("no answer".to_owned(), Duration::ZERO),
            |reply| (short_head(reply), reply.after),
        )
    }
}
