//! The head of a request.
//!
//! Strict: what another reader of the same bytes could take differently is refused, and nothing behind it is read.

use super::spare;
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use bytes::Bytes;
use httparse::{ParserConfig, Status};
use std::mem::MaybeUninit;
use trunkline_transport::framing::{BadFraming, Declared, Framing, Version};

/// How long a head may be.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;
/// How many fields it may have.
const MAX_FIELDS: usize = 100;
/// How long the target of a request may be.
pub(super) const TARGET_LIMIT: usize = 16 * 1024;

/// The head of a request, and what it means for the connection.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) fields: HeaderMap,
    pub(super) framing: Framing,
    pub(super) version: Version,
    /// Whether the client means to go on with the connection.
    pub(super) keeps: bool,
    pub(super) expects: Expects,
}

/// Whether the client waits for a word before it sends its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expects {
    Nothing,
    Continue,
}

/// A request that does not begin as it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadHead {
    #[error("the head of the request cannot be read: {0}")]
    Syntax(httparse::Error),
    #[error("a line of the head does not end with CR and LF")]
    LineEnd,
    #[error("the target of the request cannot be read")]
    Target,
    #[error("the target of the request is longer than {TARGET_LIMIT} bytes")]
    LongTarget,
    #[error("the head of the request is longer than {HEAD_LIMIT} bytes")]
    Long,
    #[error("the head of the request has more than {MAX_FIELDS} fields")]
    ManyFields,
    #[error(transparent)]
    Framing(#[from] BadFraming),
    #[error("the head of the request did not arrive in time")]
    Late,
}

impl BadHead {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::LongTarget => StatusCode::URI_TOO_LONG,
            Self::Long | Self::ManyFields => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Framing(BadFraming::Coding) => StatusCode::NOT_IMPLEMENTED,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
            Self::Syntax(_) | Self::LineEnd | Self::Target | Self::Framing(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Takes the head of a request out of `input`; none as long as it is not whole.
pub(super) fn read(input: &mut Bytes) -> Result<Option<Asked>, BadHead> {
    let mut fields = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut []);
    let parser = ParserConfig::default();
    let length = match parser.parse_request_with_uninit_headers(&mut parsed, input, &mut fields) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return unfinished(input, &parsed),
        Err(httparse::Error::TooManyHeaders) => return Err(BadHead::ManyFields),
        Err(error) => return Err(BadHead::Syntax(error)),
    };
    check_length(length, parsed.path)?;
    check_lines(&input[..length])?;
    let method = Method::from_bytes(parsed.method.unwrap_or_default().as_bytes())
        .map_err(|_| BadHead::Syntax(httparse::Error::Token))?;
    let uri = target(input.slice_ref(parsed.path.unwrap_or_default().as_bytes()), &method)?;
    let version = Version::of(parsed.version);
    let mut declared = Declared::default();
    let mut expects = Expects::Nothing;
    let mut map = spare::fields();
    map.reserve(parsed.headers.len());
    for field in parsed.headers.iter() {
        declared.add(field.name, field.value)?;
        if field.name.eq_ignore_ascii_case("expect") && field.value.eq_ignore_ascii_case(b"100-continue") {
            expects = Expects::Continue;
        }
        map.append(name(field.name)?, value(input, field.value)?);
    }
    let framing = declared.framing(version)?.unwrap_or(Framing::EMPTY);
    let keeps = declared.keeps(version) && method != Method::CONNECT;
    // Who speaks HTTP/1.0 does not know what it would be told.
    let expects = if version == Version::Old { Expects::Nothing } else { expects };
    *input = input.slice(length..);
    Ok(Some(Asked { method, uri, fields: map, framing, version, keeps, expects }))
}

/// A head that is not whole yet may be wrong already.
fn unfinished(input: &[u8], parsed: &httparse::Request<'_, '_>) -> Result<Option<Asked>, BadHead> {
    let has_line = parsed.version.is_some();
    if !has_line && input.len() > TARGET_LIMIT + MAX_FIELDS {
        return Err(BadHead::LongTarget);
    }
    check_length(input.len(), parsed.path)?;
    check_lines(input)?;
    Ok(None)
}

fn check_length(length: usize, target: Option<&str>) -> Result<(), BadHead> {
    if target.is_some_and(|target| target.len() > TARGET_LIMIT) {
        return Err(BadHead::LongTarget);
    }
    if length > HEAD_LIMIT { Err(BadHead::Long) } else { Ok(()) }
}

/// The parser takes a lone LF for the end of a line.
fn check_lines(text: &[u8]) -> Result<(), BadHead> {
    let mut ends = memchr::memchr_iter(b'\n', text);
    let whole = ends.all(|end| end.checked_sub(1).is_some_and(|before| text[before] == b'\r'));
    whole.then_some(()).ok_or(BadHead::LineEnd)
}

/// A path; a whole URI, as proxies are asked; `*` with OPTIONS, or an authority with CONNECT.
fn target(text: Bytes, method: &Method) -> Result<Uri, BadHead> {
    let uri = Uri::from_maybe_shared(text).map_err(|_| BadHead::Target)?;
    let fits = match (uri.scheme(), uri.authority()) {
        (Some(_), Some(_)) => method != Method::CONNECT,
        (None, Some(_)) => method == Method::CONNECT,
        (None, None) if uri.path() == "*" => method == Method::OPTIONS,
        (None, None) => uri.path().starts_with('/') && method != Method::CONNECT,
        (Some(_), None) => false,
    };
    fits.then_some(uri).ok_or(BadHead::Target)
}

fn name(text: &str) -> Result<HeaderName, BadHead> {
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| BadHead::Syntax(httparse::Error::HeaderName))
}

fn value(input: &Bytes, text: &[u8]) -> Result<HeaderValue, BadHead> {
    HeaderValue::from_maybe_shared(input.slice_ref(text))
        .map_err(|_| BadHead::Syntax(httparse::Error::HeaderValue))
}
