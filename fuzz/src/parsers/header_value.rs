//! Header values: any text survives a round trip through a header, and any header is rejected or
//! decoded.

use http::HeaderValue;
use trunkline_transport::headers::{decode_value, encode_value};

pub fn holds(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        travels(text);
    }
    let Ok(value) = HeaderValue::from_bytes(data) else { return };
    if let Ok(text) = decode_value(&value) {
        let again = travels(&text);
        // Unnecessary base64 is accepted; otherwise each text has exactly one encoding.
        assert!(again == value || value.as_bytes().starts_with(b"=?base64?"));
    }
}

/// Encodes a text and checks that the header is valid and decodes to the text.
fn travels(text: &str) -> HeaderValue {
    let value = encode_value(text);
    let sent = value.to_str().expect("visible ASCII and blanks");
    assert!(sent.bytes().all(|byte| matches!(byte, b' '..=b'~')));
    assert_eq!(sent, sent.trim());
    assert_eq!(decode_value(&value).as_deref(), Ok(text));
    value
}
