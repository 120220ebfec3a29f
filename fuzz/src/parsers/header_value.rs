//! Header values: any text travels through a header and comes back, and any header is refused or understood.

use http::HeaderValue;
use trunkline_transport::headers::{decode_value, encode_value};

pub fn holds(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        travels(text);
    }
    let Ok(value) = HeaderValue::from_bytes(data) else { return };
    if let Ok(text) = decode_value(&value) {
        let again = travels(&text);
        // Whoever encodes without need is understood; nobody else may write a text in two ways.
        assert!(again == value || value.as_bytes().starts_with(b"=?base64?"));
    }
}

/// Encodes a text, checks what goes over the wire and that it means the text.
fn travels(text: &str) -> HeaderValue {
    let value = encode_value(text);
    let sent = value.to_str().expect("visible ASCII and blanks");
    assert!(sent.bytes().all(|byte| matches!(byte, b' '..=b'~')));
    assert_eq!(sent, sent.trim());
    assert_eq!(decode_value(&value).as_deref(), Ok(text));
    value
}
