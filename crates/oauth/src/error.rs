//! The reasons why there is no token.

use crate::store::StoreError;
use trunkline_transport::http::HttpError;

/// Longest text of an authorization server that is repeated in an error.
const MAX_SAID: usize = 300;

/// An error of discovery, registration, login or refresh. Texts that a server chose are bounded.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    #[error("the address {url} is refused: {reason}")]
    Refused { url: String, reason: &'static str },
    #[error("{url} cannot be fetched: {source}")]
    Fetch {
        url: String,
        #[source]
        source: Box<HttpError>,
    },
    #[error("{url} did not answer within {seconds} s")]
    Slow { url: String, seconds: u64 },
    #[error("{url} answered with status {status}")]
    Status { url: String, status: u16 },
    #[error("the document at {url} is malformed: {reason}")]
    Malformed { url: String, reason: String },
    #[error("the server's metadata is for the resource `{found}`, but this server is `{expected}`")]
    OtherResource { found: String, expected: String },
    #[error("the metadata of the authorization server `{expected}` names another issuer, `{found}`")]
    OtherIssuer { found: String, expected: String },
    #[error("no metadata of the authorization server `{issuer}` was found")]
    NoIssuer { issuer: String },
    #[error("the server names no authorization server")]
    NoAuthorizationServer,
    #[error("the authorization server `{issuer}` does not support PKCE with S256, so no login is made there")]
    NoPkce { issuer: String },
    #[error("the authorization server `{issuer}` has no {what}")]
    Unsupported { issuer: String, what: &'static str },
    #[error("the authorization server `{issuer}` registers no clients by itself, and none is configured")]
    NoClient { issuer: String },
    #[error("the authorization server refused to register a client: {said}")]
    Registration { said: String },
    /// The text of an error response of another issuer is not shown: it may be an attack.
    #[error("the answer to the login does not come from `{expected}`, so it is not used")]
    WrongIssuer { expected: String, found: Option<String> },
    #[error("the answer to the login has a wrong or missing `state`, so it is not used")]
    WrongState,
    #[error("the answer to the login has no code")]
    NoCode,
    #[error("the login was refused: {said}")]
    Denied { said: String },
    #[error("the token endpoint refused the request: {said}")]
    Token { code: String, said: String },
    #[error("the token is of the type `{kind}`, only `Bearer` is supported")]
    TokenType { kind: String },
    #[error("the login was not finished within {seconds} s")]
    Unfinished { seconds: u64 },
    #[error("the server requires a login, and there is none")]
    NotSignedIn,
    #[error("the login has expired and cannot be renewed: {said}")]
    Expired { said: String },
    #[error("the server now names another authorization server, `{found}`; the login is for `{expected}`")]
    Moved { found: String, expected: String },
    #[error("the server asks for more scopes than the login has: `{scopes}`")]
    MissingScopes { scopes: String },
    #[error("the server still asks for more scopes after {tries} logins: `{scopes}`")]
    StepUpLoop { tries: usize, scopes: String },
    #[error("{0}")]
    Key(#[from] crate::assertion::KeyError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the callback address cannot be opened: {0}")]
    Callback(#[source] std::io::Error),
    #[error("the browser cannot be started: {0}")]
    Browser(String),
    #[error("the system has no random numbers")]
    Random,
}

impl OAuthError {
    /// True if the same request may succeed later without a new login.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Fetch { source, .. } => source.is_transient(),
            Self::Slow { .. } => true,
            Self::Status { status, .. } => *status >= 500 || matches!(status, 408 | 425 | 429),
            _ => false,
        }
    }

    /// True if only a new login helps.
    pub fn needs_login(&self) -> bool {
        matches!(
            self,
            Self::NotSignedIn | Self::Expired { .. } | Self::Moved { .. } | Self::MissingScopes { .. }
        )
    }
}

/// A server's words, bounded and on one line.
pub(crate) fn said(text: &str) -> String {
    let line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SAID + 1).collect();
    match line.char_indices().nth(MAX_SAID) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
