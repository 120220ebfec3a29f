//! The head of a request.
//!
//! Strict: what another reader of the same bytes could take differently is refused, and nothing behind it is read.

use super::{
    accept::{self, Takes},
    spare,
};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use bytes::{Buf as _, Bytes};
use httparse::{ParserConfig, Status};
use std::mem::MaybeUninit;
use trunkline_transport::{
    framing::{BadFraming, Declared, Framing, Version},
    headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, MCP_SESSION_ID},
};

/// How long a head may be.
const HEAD_LIMIT: usize = 64 * 1024;
/// The first line, and the empty one at the end.
const LINES_AROUND: usize = 2;
/// How many fields it may have.
const MAX_FIELDS: usize = 100;
/// How long the target of a request may be.
const TARGET_LIMIT: usize = 16 * 1024;

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
    pub(super) takes: Takes,
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
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::LongTarget => StatusCode::URI_TOO_LONG,
            Self::Long | Self::ManyFields => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Framing(BadFraming::Coding) => StatusCode::NOT_IMPLEMENTED,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
            Self::Syntax(_) | Self::LineEnd | Self::Target | Self::Framing(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Takes the head of a request out of `input`, of which so many bytes were looked at before; none as long as it is not whole.
/// Empty lines before it are passed over: some clients end a body with one that does not belong to it.
pub(super) fn find(input: &mut Bytes, seen: usize) -> Result<Option<Asked>, BadHead> {
    skip_empty_lines(input);
    // One that is not whole is looked at again only when another line has come.
    let begins = seen == 0 && !input.is_empty();
    let new_line = || memchr::memchr(b'\n', input.get(seen..).unwrap_or_default()).is_some();
    if begins || new_line() || input.len() > HEAD_LIMIT { read(input) } else { Ok(None) }
}

pub(super) fn skip_empty_lines(input: &mut Bytes) {
    while input.starts_with(b"\r\n") {
        input.advance(2);
    }
}

fn read(input: &mut Bytes) -> Result<Option<Asked>, BadHead> {
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
    check_lines(&input[..length], parsed.headers.len() + LINES_AROUND)?;
    let method = Method::from_bytes(parsed.method.unwrap_or_default().as_bytes())
        .map_err(|_| BadHead::Syntax(httparse::Error::Token))?;
    let uri = target(input.slice_ref(parsed.path.unwrap_or_default().as_bytes()), &method)?;
    let version = Version::of(parsed.version);
    let mut declared = Declared::default();
    let mut expects = Expects::Nothing;
    let mut takes = None;
    let mut map = spare::fields();
    map.reserve(parsed.headers.len());
    for field in parsed.headers.iter() {
        // What is said of the connection is for nobody behind it.
        if declared.add(field.name, field.value)? {
            continue;
        }
        let name = name(field.name)?;
        if name == header::ACCEPT && takes != Some(Takes::Ours) {
            takes = Some(accept::takes(field.value));
        } else if name == header::EXPECT && field.value.eq_ignore_ascii_case(b"100-continue") {
            expects = Expects::Continue;
        }
        map.append(name, value(input, field.value)?);
    }
    let takes = takes.unwrap_or(Takes::Ours);
    let framing = declared.framing(version)?.unwrap_or(Framing::EMPTY);
    let keeps = declared.keeps(version) && method != Method::CONNECT;
    // Who speaks HTTP/1.0 does not know what it would be told.
    let expects = if version == Version::Old { Expects::Nothing } else { expects };
    *input = input.slice(length..);
    Ok(Some(Asked { method, uri, fields: map, framing, version, keeps, expects, takes }))
}

/// A head that is not whole yet may be wrong already.
fn unfinished(input: &[u8], parsed: &httparse::Request<'_, '_>) -> Result<Option<Asked>, BadHead> {
    let has_line = parsed.version.is_some();
    if !has_line && input.len() > TARGET_LIMIT + MAX_FIELDS {
        return Err(BadHead::LongTarget);
    }
    check_length(input.len(), parsed.path)?;
    let whole = memchr::memchr_iter(b'\n', input).all(|end| input[..end].ends_with(b"\r"));
    if whole { Ok(None) } else { Err(BadHead::LineEnd) }
}

fn check_length(length: usize, target: Option<&str>) -> Result<(), BadHead> {
    if target.is_some_and(|target| target.len() > TARGET_LIMIT) {
        return Err(BadHead::LongTarget);
    }
    if length > HEAD_LIMIT { Err(BadHead::Long) } else { Ok(()) }
}

/// The parser takes a lone LF for the end of a line, or for an empty one before the first; a CR it takes only before an LF.
fn check_lines(text: &[u8], lines: usize) -> Result<(), BadHead> {
    let whole = memchr::memchr_iter(b'\r', text).count() == lines && !text.starts_with(b"\n");
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
    // Those that come with nearly every request are compared instead of being taken apart.
    let usual = match text.len() {
        6 => header::ACCEPT,
        8 => MCP_NAME,
        10 if text.starts_with(['m', 'M']) => MCP_METHOD,
        10 => header::USER_AGENT,
        12 => header::CONTENT_TYPE,
        13 => header::AUTHORIZATION,
        14 => MCP_SESSION_ID,
        15 => header::ACCEPT_ENCODING,
        20 => MCP_PROTOCOL_VERSION,
        _ => header::HOST,
    };
    if text.eq_ignore_ascii_case(usual.as_str()) {
        return Ok(usual);
    }
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| BadHead::Syntax(httparse::Error::HeaderName))
}

fn value(input: &Bytes, text: &[u8]) -> Result<HeaderValue, BadHead> {
    HeaderValue::from_maybe_shared(input.slice_ref(text))
        .map_err(|_| BadHead::Syntax(httparse::Error::HeaderValue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(fields: &str) -> Result<Option<Asked>, BadHead> {
        read(&mut Bytes::from(format!("POST /mcp HTTP/1.1\r\n{fields}\r\n")))
    }

    #[test]
    fn usual_names_are_what_they_would_be_otherwise() {
        for usual in [
            "Host",
            "ACCEPT",
            "mcp-name",
            "Mcp-Method",
            "user-agent",
            "content-type",
            "authorization",
            "Mcp-Session-Id",
            "accept-encoding",
            "MCP-Protocol-Version",
            "x",
            "date",
            "last-event-id",
            "If-None-Match",
            "mcp-param-x",
        ] {
            assert_eq!(name(usual).unwrap(), HeaderName::from_bytes(usual.as_bytes()).unwrap(), "{usual}");
        }
    }

    #[test]
    fn what_is_said_of_the_connection_stays_here() {
        let fields = "content-length: 5\r\nconnection: close, x\r\nExpect: 100-continue\r\nx: 1\r\nX: 2\r\n";
        let asked = head(fields).unwrap().unwrap();
        assert_eq!(
            (asked.framing.announced(), asked.keeps, asked.expects),
            (Some(5), false, Expects::Continue)
        );
        let kept: Vec<_> =
            asked.fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(kept, [("expect", &b"100-continue"[..]), ("x", b"1"), ("x", b"2")]);
    }

    #[test]
    fn lines_end_with_both() {
        for (text, refused) in [
            ("GET / HTTP/1.1\r\nhost: a\r\n\r\n", false),
            ("\nGET / HTTP/1.1\r\nhost: a\r\n\r\n", true),
            ("GET / HTTP/1.1\nhost: a\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nhost: a\n\r\n", true),
            ("GET / HTTP/1.1\r\nhost: a\r\n\n", true),
            ("GET / HTTP/1.1\nhost", true),
        ] {
            let outcome = read(&mut Bytes::from(text));
            assert_eq!(matches!(outcome, Err(BadHead::LineEnd)), refused, "{text:?}: {outcome:?}");
        }
    }

    proptest! {
        #[test]
        fn the_beginning_of_a_head_is_none_and_never_another(
            fields in prop::collection::vec("[a-zA-Z-]{1,12}: ?[ -~]{0,20}", 0..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let fields: Vec<_> = fields.iter().map(|field| format!("x-{field}\r\n")).collect();
            let whole = format!("GET /mcp?a HTTP/1.1\r\nhost: a\r\n{}\r\n", fields.concat());
            let mut input = Bytes::from(whole.clone() + "rest");
            prop_assert!(read(&mut input).unwrap().is_some());
            prop_assert_eq!(input, "rest");
            let begin = &whole[..cut.index(whole.len())];
            prop_assert!(read(&mut Bytes::from(begin.to_owned())).unwrap().is_none());
        }

        #[test]
        fn whatever_comes_is_read_or_refused(text in prop::collection::vec(prop_oneof![
            Just(b'\r'), Just(b'\n'), Just(b' '), Just(b':'), any::<u8>(),
        ], 0..80)) {
            let whole = [b"GET / HTTP/1.1\r\n".to_vec(), text, b"\r\n\r\n".to_vec()].concat();
            let mut input = Bytes::from(whole.clone());
            if let Ok(Some(_)) = read(&mut input) {
                let taken = &whole[..whole.len() - input.len()];
                prop_assert!(taken.ends_with(b"\r\n\r\n"));
                prop_assert!(!taken.windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r'));
            }
        }
    }
}
