//! Redirect policy: only redirects within the origin that keep method and body are followed.
//!
//! A redirect to another origin would send it the headers (tokens, sessions) and bodies for this
//! one, and a redirect that turns a POST into a GET would lose the message. Both are refused with
//! an error that names the target.

use http::{HeaderValue, Method, StatusCode};

use super::target::{InvalidUrl, Target};

/// Limit of redirects in a row.
pub const MAX_REDIRECTS: usize = 5;

/// The treatment of redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// Followed within the origin; any other is an error.
    SameOrigin,
    /// Returned like any other response.
    Returned,
}

/// A redirect that is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    #[error("the server redirects to another origin, {target}; nothing was sent there")]
    OtherOrigin { target: String },
    #[error("the server redirects with status {}, which would lose the message, to {target}", status.as_u16())]
    LosesBody { status: StatusCode, target: String },
    #[error("the server redirects to an unusable address: {0}")]
    BadLocation(InvalidUrl),
    #[error("the server redirects more than {MAX_REDIRECTS} times in a row")]
    TooMany,
}

/// The address that answered in place of the one that was asked; an extension of responses.
#[derive(Debug, Clone)]
pub struct Redirected(pub url::Url);

/// The target of a redirect; `None` if the response is not a redirect.
pub(super) fn next(
    from: &Target,
    method: &Method,
    status: StatusCode,
    location: impl FnOnce() -> Option<HeaderValue>,
) -> Result<Option<Target>, RedirectError> {
    let keeps_method = match status {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => *method == Method::GET,
        _ => return Ok(None),
    };
    let Some(location) = location() else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let target = from.resolve(&location).map_err(RedirectError::BadLocation)?;
    if !from.same_origin(&target) {
        return Err(RedirectError::OtherOrigin { target: target.to_string() });
    }
    if !keeps_method {
        return Err(RedirectError::LosesBody { status, target: target.to_string() });
    }
    Ok(Some(target))
}
