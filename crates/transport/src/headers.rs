//! The headers of Streamable HTTP: their names, and the encoding of values that a plain header
//! cannot hold.
//!
//! Since revision 2026-07-28 names and arguments are repeated in headers. A value is sent
//! unchanged, unless it has control or non-ASCII characters, starts or ends with a blank or tab,
//! or already looks encoded; then it is sent as `=?base64?…?=`, with exactly these markers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use std::borrow::Cow;

/// The protocol revision of a request.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session id that a legacy server has issued.
pub const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The method of a request (2026-07-28).
pub const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The tool, prompt, resource or task of a request (2026-07-28).
pub const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The last received event, after which the stream is resumed.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Prefix of the headers that repeat tool arguments (2026-07-28).
pub const MCP_PARAM_PREFIX: &str = "mcp-param-";

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// A header value that violates the encoding rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHeaderValue {
    #[error("the header value has characters that must be sent base64-encoded")]
    Unencoded,
    #[error("the header value is marked as base64 but is not valid base64")]
    Base64,
    #[error("the decoded base64 header value is not UTF-8")]
    Utf8,
}

/// Converts any text into a header value; encodes it only if necessary.
pub fn encode_value(value: &str) -> HeaderValue {
    if is_plain_value(value) && !looks_encoded(value) {
        return HeaderValue::from_str(value).expect("printable ASCII is a header value");
    }
    let encoded = format!("{OPENING}{}{CLOSING}", STANDARD.encode(value));
    HeaderValue::try_from(encoded).expect("base64 is printable ASCII")
}

/// The inverse of [`encode_value`]. Also accepts a value that was encoded without need; refuses
/// everything else that [`encode_value`] does not produce.
pub fn decode_value(value: &HeaderValue) -> Result<Cow<'_, str>, BadHeaderValue> {
    let text = value.to_str().map_err(|_| BadHeaderValue::Unencoded)?;
    if !is_plain_value(text) {
        return Err(BadHeaderValue::Unencoded);
    }
    let Some(inner) = text.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING)) else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(inner).map_err(|_| BadHeaderValue::Base64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BadHeaderValue::Utf8)
}

fn is_plain_value(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !value.starts_with(' ') && !value.ends_with(' ')
}

fn looks_encoded(value: &str) -> bool {
    value.starts_with(OPENING) && value.ends_with(CLOSING)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(value: &str) -> String {
        encode_value(value).to_str().unwrap().to_owned()
    }

    #[test]
    fn plain_values_go_as_they_are() {
        for plain in ["", "get_weather", "a b", "file:///a?b=%20", "=?base64?x", "x?=", "=?BASE64?eA==?="] {
            assert_eq!(encoded(plain), plain);
        }
    }

    #[test]
    fn values_a_header_cannot_carry_are_encoded() {
        assert_eq!(encoded("ä"), "=?base64?w6Q=?=");
        assert_eq!(encoded(" a"), "=?base64?IGE=?=");
        assert_eq!(encoded("a\t"), "=?base64?YQk=?=");
        assert_eq!(encoded("a\r\nx: y"), "=?base64?YQ0KeDogeQ==?=");
        assert_eq!(encoded("a\tb"), "=?base64?YQli?=");
        assert_eq!(encoded("\u{7f}"), "=?base64?fw==?=");
        assert_eq!(encoded("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
        assert_eq!(encoded("=?base64?="), "=?base64?PT9iYXNlNjQ/PQ==?=");
    }

    #[test]
    fn values_that_nobody_would_have_sent_are_refused() {
        let cases = [
            (&b"=?base64?eA?="[..], BadHeaderValue::Base64),
            (b"=?base64?e A==?=", BadHeaderValue::Base64),
            (b"=?base64?eB==?=", BadHeaderValue::Base64),
            (b"=?base64?-_8=?=", BadHeaderValue::Base64),
            (b"=?base64?/w==?=", BadHeaderValue::Utf8),
            (b"\xc3\xa4", BadHeaderValue::Unencoded),
            (b"a\tb", BadHeaderValue::Unencoded),
            (b" a", BadHeaderValue::Unencoded),
        ];
        for (value, expected) in cases {
            let value = HeaderValue::from_bytes(value).unwrap();
            assert_eq!(decode_value(&value), Err(expected), "{value:?}");
        }
    }

    #[test]
    fn a_value_encoded_without_need_is_still_read() {
        assert_eq!(decode_value(&HeaderValue::from_static("=?base64?eA==?=")).unwrap(), "x");
        assert_eq!(decode_value(&HeaderValue::from_static("=?base64??=")).unwrap(), "");
    }

    proptest! {
        #[test]
        fn every_text_comes_back(value in any::<String>()) {
            let encoded = encode_value(&value);
            prop_assert_eq!(decode_value(&encoded).unwrap(), value);
        }

        #[test]
        fn every_text_around_the_markers_comes_back(value in "[ \t]?(=\\?base64\\?)?[a-zA-Z=?ä]{0,8}(\\?=)?[ \t]?") {
            let encoded = encode_value(&value);
            prop_assert_eq!(decode_value(&encoded).unwrap(), value);
        }
    }
}
