//! What a client says it takes for an answer.

use memchr::memchr;

/// What nearly everybody says.
const USUAL: &[u8] = b"application/json, text/event-stream";
/// The two forms that answers have, and what stands for them.
const OURS: [&str; 5] = ["application/json", "text/event-stream", "*/*", "application/*", "text/*"];

/// Whether somebody takes an answer in one of its forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Ours,
    /// What we do not have.
    Else,
}

/// Reads one `Accept`. One that names nothing says nothing.
pub(super) fn takes(value: &[u8]) -> Takes {
    if value == USUAL {
        return Takes::Ours;
    }
    let mut named = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
    let Some(first) = named.next() else { return Takes::Ours };
    if is_ours(first) || named.any(is_ours) { Takes::Ours } else { Takes::Else }
}

fn is_ours(named: &[u8]) -> bool {
    let (media, parameters) = named.split_at(memchr(b';', named).unwrap_or(named.len()));
    let media = media.trim_ascii();
    let weights = parameters.split(|byte| *byte == b';').filter_map(weight);
    OURS.iter().any(|ours| media.eq_ignore_ascii_case(ours.as_bytes())) && !weights.into_iter().any(is_zero)
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
    fn an_answer_is_taken_in_either_form_and_by_any_name() {
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
            assert_eq!(takes(fine.as_bytes()), Takes::Ours, "{fine}");
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
            assert_eq!(takes(other.as_bytes()), Takes::Else, "{other}");
        }
    }
}
