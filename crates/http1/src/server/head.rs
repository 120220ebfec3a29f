//! The parser of request heads.
//!
//! It is strict: a head that another parser could read differently is rejected, and the
//! connection is not read any further.

use crate::framing::{Framing, FramingError, MessageHeaders, Version};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use bytes::{Buf as _, Bytes};
use httparse::{ParserConfig, Status};
use std::mem::MaybeUninit;

/// Longest head, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;
/// The request line, and the empty line at the end.
const LINES_WITHOUT_HEADER: usize = 2;
const MAX_HEADERS: usize = 100;
/// Longest request target, in bytes.
const TARGET_LIMIT: usize = 16 * 1024;

/// The head of a request, without the headers that concern only the connection.
#[derive(Debug)]
pub(crate) struct RequestHead {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) framing: Framing,
    pub(crate) version: Version,
    /// The client keeps the connection open after this request.
    pub(crate) keep_alive: bool,
    pub(crate) expect: Expect,
}

/// Tells if the client waits for `100 Continue` before it sends its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    Nothing,
    Continue,
}

/// The head of a request is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    #[error("the head of the request cannot be read: {0}")]
    Syntax(httparse::Error),
    #[error("a line of the head does not end with CR and LF")]
    LineEnd,
    #[error("the target of the request cannot be read")]
    Target,
    #[error("the target of the request is longer than {TARGET_LIMIT} bytes")]
    LongTarget,
    #[error("the head of the request is longer than {HEAD_LIMIT} bytes")]
    TooLong,
    #[error("the head of the request has more than {MAX_HEADERS} fields")]
    TooManyHeaders,
    #[error(transparent)]
    Framing(#[from] FramingError),
    #[error("the head of the request did not arrive in time")]
    Timeout,
}

impl HeadError {
    pub fn status(self) -> StatusCode {
        match self {
            Self::LongTarget => StatusCode::URI_TOO_LONG,
            Self::TooLong | Self::TooManyHeaders => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Framing(FramingError::TransferCoding) => StatusCode::NOT_IMPLEMENTED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::Syntax(_) | Self::LineEnd | Self::Target | Self::Framing(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Takes a request head out of `input`, the first `scanned` bytes of which were seen by an earlier
/// call; `None` while it is incomplete. Blank lines before it are skipped, because some clients
/// send one after a body. Names in `usual` are not allocated.
pub(crate) fn parse(
    input: &mut Bytes,
    scanned: usize,
    usual: &[HeaderName],
) -> Result<Option<RequestHead>, HeadError> {
    skip_blank_lines(input);
    // An incomplete head is parsed again only when another line has arrived.
    let begins = scanned == 0 && !input.is_empty();
    let new_line = || memchr::memchr(b'\n', input.get(scanned..).unwrap_or_default()).is_some();
    if begins || new_line() || input.len() > HEAD_LIMIT { read(input, usual) } else { Ok(None) }
}

pub(super) fn skip_blank_lines(input: &mut Bytes) {
    while input.starts_with(b"\r\n") {
        input.advance(2);
    }
}

fn read(input: &mut Bytes, usual: &[HeaderName]) -> Result<Option<RequestHead>, HeadError> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut []);
    let parser = ParserConfig::default();
    let length = match parser.parse_request_with_uninit_headers(&mut parsed, input, &mut headers) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return check_incomplete(input, &parsed).map(|()| None),
        Err(httparse::Error::TooManyHeaders) => return Err(HeadError::TooManyHeaders),
        Err(error) => return Err(HeadError::Syntax(error)),
    };
    check_length(length, parsed.path)?;
    check_line_ends(&input[..length], parsed.headers.len() + LINES_WITHOUT_HEADER)?;
    let method = Method::from_bytes(parsed.method.unwrap_or_default().as_bytes())
        .map_err(|_| HeadError::Syntax(httparse::Error::Token))?;
    let uri = target(input.slice_ref(parsed.path.unwrap_or_default().as_bytes()), &method)?;
    let version = Version::from_minor(parsed.version);
    let mut message = MessageHeaders::default();
    let mut expect = Expect::Nothing;
    let mut headers = HeaderMap::with_capacity(parsed.headers.len());
    for parsed in parsed.headers.iter() {
        // Hop-by-hop headers are not passed on.
        if message.add(parsed.name, parsed.value)? {
            continue;
        }
        let name = header_name(parsed.name, usual)?;
        // An HTTP/1.0 client does not know `100 Continue`.
        if name == header::EXPECT
            && version == Version::Http11
            && parsed.value.eq_ignore_ascii_case(b"100-continue")
        {
            expect = Expect::Continue;
        }
        headers.append(name, header_value(input, parsed.value)?);
    }
    let framing = message.framing(version)?.unwrap_or(Framing::EMPTY);
    let keep_alive = message.keeps_alive(version) && method != Method::CONNECT;
    *input = input.slice(length..);
    Ok(Some(RequestHead { method, uri, headers, framing, version, keep_alive, expect }))
}

/// An incomplete head may already be invalid.
fn check_incomplete(input: &[u8], parsed: &httparse::Request<'_, '_>) -> Result<(), HeadError> {
    let has_line = parsed.version.is_some();
    if !has_line && input.len() > TARGET_LIMIT + MAX_HEADERS {
        return Err(HeadError::LongTarget);
    }
    check_length(input.len(), parsed.path)?;
    let valid = memchr::memchr_iter(b'\n', input).all(|end| input[..end].ends_with(b"\r"));
    valid.then_some(()).ok_or(HeadError::LineEnd)
}

fn check_length(length: usize, target: Option<&str>) -> Result<(), HeadError> {
    if target.is_some_and(|target| target.len() > TARGET_LIMIT) {
        return Err(HeadError::LongTarget);
    }
    if length > HEAD_LIMIT { Err(HeadError::TooLong) } else { Ok(()) }
}

/// `httparse` accepts a lone LF as the end of a line or as a blank line; it accepts a CR only
/// before an LF. So there must be as many CRs as lines.
fn check_line_ends(text: &[u8], lines: usize) -> Result<(), HeadError> {
    let valid = memchr::memchr_iter(b'\r', text).count() == lines && !text.starts_with(b"\n");
    valid.then_some(()).ok_or(HeadError::LineEnd)
}

/// A path, a whole URI (as sent to proxies), `*` with OPTIONS, or an authority with CONNECT.
fn target(text: Bytes, method: &Method) -> Result<Uri, HeadError> {
    let uri = Uri::from_maybe_shared(text).map_err(|_| HeadError::Target)?;
    let valid = match (uri.scheme(), uri.authority()) {
        (Some(_), Some(_)) => method != Method::CONNECT,
        (None, Some(_)) => method == Method::CONNECT,
        (None, None) if uri.path() == "*" => method == Method::OPTIONS,
        (None, None) => uri.path().starts_with('/') && method != Method::CONNECT,
        (Some(_), None) => false,
    };
    valid.then_some(uri).ok_or(HeadError::Target)
}

fn header_name(text: &str, usual: &[HeaderName]) -> Result<HeaderName, HeadError> {
    let usual = usual.iter().find(|name| text.eq_ignore_ascii_case(name.as_str()));
    match usual {
        Some(name) => Ok(name.clone()),
        None => HeaderName::from_bytes(text.as_bytes())
            .map_err(|_| HeadError::Syntax(httparse::Error::HeaderName)),
    }
}

fn header_value(input: &Bytes, text: &[u8]) -> Result<HeaderValue, HeadError> {
    HeaderValue::from_maybe_shared(input.slice_ref(text))
        .map_err(|_| HeadError::Syntax(httparse::Error::HeaderValue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(input: &mut Bytes) -> Result<Option<RequestHead>, HeadError> {
        read(input, &[])
    }

    fn head(headers: &str) -> Result<Option<RequestHead>, HeadError> {
        parsed(&mut Bytes::from(format!("POST /mcp HTTP/1.1\r\n{headers}\r\n")))
    }

    #[test]
    fn usual_headers_are_found_in_any_case_and_others_are_parsed() {
        let usual = [header::HOST, HeaderName::from_static("x-usual")];
        for name in ["Host", "HOST", "X-Usual", "x-usual", "x-usua", "date", "If-None-Match"] {
            let expected = HeaderName::from_bytes(name.as_bytes()).unwrap();
            assert_eq!(header_name(name, &usual).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn hop_by_hop_headers_are_not_passed_on() {
        let fields = "content-length: 5\r\nconnection: close, x\r\nExpect: 100-continue\r\nx: 1\r\nX: 2\r\n";
        let head = head(fields).unwrap().unwrap();
        assert_eq!(
            (head.framing.remaining(), head.keep_alive, head.expect),
            (Some(5), false, Expect::Continue)
        );
        let kept: Vec<_> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(kept, [("expect", &b"100-continue"[..]), ("x", b"1"), ("x", b"2")]);
    }

    #[test]
    fn lines_end_with_crlf() {
        for (text, refused) in [
            ("GET / HTTP/1.1\r\nhost: a\r\n\r\n", false),
            ("\nGET / HTTP/1.1\r\nhost: a\r\n\r\n", true),
            ("GET / HTTP/1.1\nhost: a\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nhost: a\n\r\n", true),
            ("GET / HTTP/1.1\r\nhost: a\r\n\n", true),
            ("GET / HTTP/1.1\nhost", true),
        ] {
            let outcome = parsed(&mut Bytes::from(text));
            assert_eq!(matches!(outcome, Err(HeadError::LineEnd)), refused, "{text:?}: {outcome:?}");
        }
    }

    proptest! {
        #[test]
        fn the_start_of_a_head_is_incomplete_and_never_another_head(
            fields in prop::collection::vec("[a-zA-Z-]{1,12}: ?[ -~]{0,20}", 0..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let fields: Vec<_> = fields.iter().map(|field| format!("x-{field}\r\n")).collect();
            let whole = format!("GET /mcp?a HTTP/1.1\r\nhost: a\r\n{}\r\n", fields.concat());
            let mut input = Bytes::from(whole.clone() + "rest");
            prop_assert!(parsed(&mut input).unwrap().is_some());
            prop_assert_eq!(input, "rest");
            let begin = &whole[..cut.index(whole.len())];
            prop_assert!(parsed(&mut Bytes::from(begin.to_owned())).unwrap().is_none());
        }

        #[test]
        fn any_input_is_read_or_refused(text in prop::collection::vec(prop_oneof![
            Just(b'\r'), Just(b'\n'), Just(b' '), Just(b':'), any::<u8>(),
        ], 0..80)) {
            let whole = [b"GET / HTTP/1.1\r\n".to_vec(), text, b"\r\n\r\n".to_vec()].concat();
            let mut input = Bytes::from(whole.clone());
            if let Ok(Some(_)) = parsed(&mut input) {
                let taken = &whole[..whole.len() - input.len()];
                prop_assert!(taken.ends_with(b"\r\n\r\n"));
                prop_assert!(!taken.windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r'));
            }
        }
    }
}
