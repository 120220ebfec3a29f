//! The answer to an authorization request, and the loopback address that receives it.

use crate::{OAuthError, Secret};
use futures_util::future::BoxFuture;
use std::{
    fmt, io,
    net::Ipv4Addr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use trunkline_resilience::timeout;
use url::Url;

/// Longest request that the loopback address reads.
pub const MAX_REQUEST: usize = 16 * 1024;
/// Timeout of one request of the browser.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const PATH: &str = "/callback";

/// Brings the user to the authorization page and the answer back.
pub trait Interaction: fmt::Debug + Send + Sync {
    /// The address to which the authorization server sends the answer.
    fn redirect_uri(&self) -> String;

    /// Shows the page and waits for an answer with this `state`.
    fn visit(&self, page: Url, state: Secret) -> BoxFuture<'_, Result<CallbackParams, OAuthError>>;
}

/// The parameters of the redirect.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallbackParams {
    pub code: Option<Secret>,
    pub state: Option<Secret>,
    pub iss: Option<String>,
    pub error: Option<String>,
    pub error_description: Option<String>,
}

impl CallbackParams {
    /// Reads the query of a redirect. A parameter that is there twice is taken as absent.
    pub fn from_url(url: &Url) -> Self {
        let one = |name: &str| {
            let mut values = url.query_pairs().filter(|(known, _)| known == name);
            match (values.next(), values.next()) {
                (Some((_, value)), None) => Some(value.into_owned()),
                _ => None,
            }
        };
        Self {
            code: one("code").map(Secret::new),
            state: one("state").map(Secret::new),
            iss: one("iss"),
            error: one("error"),
            error_description: one("error_description"),
        }
    }

    /// Reads the address that a user copied from the browser; it may be the query alone.
    pub fn from_pasted(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['"', '\'']);
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(_) => Url::parse(&format!("http://localhost{PATH}?{}", text.trim_start_matches('?'))).ok()?,
        };
        let found = Self::from_url(&url);
        (found.code.is_some() || found.error.is_some()).then_some(found)
    }
}

/// Listens on a loopback port for one answer. The port closes with the listener.
#[derive(Debug)]
pub struct CallbackListener {
    listener: TcpListener,
    redirect_uri: String,
    has_refused: AtomicBool,
}

impl CallbackListener {
    /// Opens the port, or a free one.
    pub async fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        let redirect_uri = format!("http://127.0.0.1:{port}{PATH}");
        Ok(Self { listener, redirect_uri, has_refused: AtomicBool::new(false) })
    }

    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// The error of a login that was not finished in time. An answer with another `state` that came
    /// meanwhile is the likely reason.
    pub fn unfinished(&self, limit: Duration) -> OAuthError {
        if self.has_refused.load(Ordering::Relaxed) {
            return OAuthError::WrongState;
        }
        OAuthError::Unfinished { seconds: limit.as_secs() }
    }

    /// Waits for the answer with this `state`. Requests with another one are refused and change
    /// nothing, so that no other page can end the login.
    pub async fn wait(&self, path: &str, state: &Secret) -> Result<CallbackParams, OAuthError> {
        loop {
            let (mut stream, _) = self.listener.accept().await.map_err(OAuthError::Callback)?;
            let Some(target) = timeout(REQUEST_TIMEOUT, request_target(&mut stream)).await.flatten() else {
                continue;
            };
            let url = Url::parse(&format!("http://127.0.0.1{target}")).ok();
            let Some(url) = url.filter(|url| url.path() == path) else {
                respond(&mut stream, "404 Not Found", "There is nothing here.").await;
                continue;
            };
            let answer = CallbackParams::from_url(&url);
            if answer.state.as_ref() != Some(state) {
                self.has_refused.store(true, Ordering::Relaxed);
                let text = "This answer belongs to no login that is under way. Nothing was changed.";
                respond(&mut stream, "400 Bad Request", text).await;
                continue;
            }
            // No text of the request is shown: anybody can link to this address.
            let text = match (&answer.code, &answer.error) {
                (Some(_), None) => "You are signed in. You can close this page.",
                _ => "The login was refused. The terminal shows the reason.",
            };
            respond(&mut stream, "200 OK", text).await;
            return Ok(answer);
        }
    }
}

/// The target of a GET request; `None` for anything else.
async fn request_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await.ok()?;
        head.extend_from_slice(&buffer[..read]);
        if read == 0 || head.len() > MAX_REQUEST {
            return None;
        }
    }
    let line = head.split(|byte| *byte == b'\r').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("GET"), Some(target), Some(_), None) if target.starts_with('/') => Some(target.to_owned()),
        _ => None,
    }
}

async fn respond(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Trunkline</title>\
         <body style=\"font-family:sans-serif;margin:4em\"><h1>Trunkline</h1><p>{text}</p></body></html>"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\
         connection: close\r\n\r\n",
        page.len()
    );
    let written = timeout(REQUEST_TIMEOUT, async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    });
    // The browser may have gone; the answer counts all the same.
    if let Some(Err(error)) = written.await {
        tracing::debug!(%error, "the page after the login was not delivered");
    }
}
