//! The `Accept` header: checks that it allows JSON or SSE.

use ::http::{HeaderMap, header};
use memchr::memchr;

/// The value that nearly all clients send.
const USUAL: &[u8] = b"application/json, text/event-stream";
const ACCEPTED: [&str; 5] = ["application/json", "text/event-stream", "*/*", "application/*", "text/*"];

/// True unless there are `Accept` headers and none of them allows JSON or SSE.
pub(super) fn allows_json_or_sse(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    values.peek().is_none() || values.any(|value| allows(value.as_bytes()))
}

/// An empty value restricts nothing.
fn allows(value: &[u8]) -> bool {
    if value == USUAL {
        return true;
    }
    let mut ranges =
        value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
    let Some(first) = ranges.next() else { return true };
    is_accepted(first) || ranges.any(is_accepted)
}

fn is_accepted(range: &[u8]) -> bool {
    let (media, parameters) = range.split_at(memchr(b';', range).unwrap_or(range.len()));
    let media = media.trim_ascii();
    let mut weights = parameters.split(|byte| *byte == b';').filter_map(weight);
    ACCEPTED.iter().any(|known| media.eq_ignore_ascii_case(known.as_bytes())) && !weights.any(is_zero)
}

/// The value of a parameter `q`.
fn weight(parameter: &[u8]) -> Option<&[u8]> {
    let (name, value) = parameter.split_at(memchr(b'=', parameter)?);
    name.trim_ascii().eq_ignore_ascii_case(b"q").then(|| value[1..].trim_ascii())
}

fn is_zero(weight: &[u8]) -> bool {
    weight.starts_with(b"0") && weight.iter().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_sse_are_recognised_by_name_and_by_wildcard() {
        for fine in [
            "application/json, text/event-stream",
            "text/event-stream,application/json",
            "application/json",
            "Text/Event-Stream;q=0.5",
            "*/*",
            "text/html, application/*;q=0.1",
            "text/html, application/xhtml+xml, */*;q=0.8",
            "text/*",
            "application/json; charset=utf-8",
            "application/json;q=0, text/event-stream",
            "",
            " , ",
        ] {
            assert!(allows(fine.as_bytes()), "{fine}");
        }
        for other in [
            "text/html",
            "application/jsonx",
            "application/xml, image/*",
            "application/json;q=0",
            "application/json ; Q=0.000 , text/event-stream;q=0.",
            "json",
            "*",
        ] {
            assert!(!allows(other.as_bytes()), "{other}");
        }
    }
}
