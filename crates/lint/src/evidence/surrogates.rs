//! Escapes of UTF-16 surrogates in JSON text.

use std::ops::Range;

/// The length of `\\uXXXX`.
const ESCAPE: usize = 6;

/// The text with every escape of half a surrogate pair replaced by U+FFFD; `None` if there is none.
pub(super) fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let halves = lone(json);
    if halves.is_empty() {
        return None;
    }
    let mut mended = json.to_vec();
    for half in halves {
        mended[half].copy_from_slice(b"\\ufffd");
    }
    Some(mended)
}

fn lone(json: &[u8]) -> Vec<Range<usize>> {
    let mut halves = Vec::new();
    let mut at = 0;
    while at < json.len() {
        if json[at] != b'\\' {
            at += 1;
            continue;
        }
        match (unit(json, at), unit(json, at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                halves.push(at..at + ESCAPE);
                at += ESCAPE;
            }
            (Some(_), _) => at += ESCAPE,
            (None, _) => at += 2,
        }
    }
    halves
}

/// The UTF-16 unit that an escape at this place stands for.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn only_half_a_pair_is_replaced() {
        assert_eq!(mended(br#"{"a":"\ud83d\ude00 \u00e4 \\ud83d"}"#), None);
        let cut = mended(br#"["\ud83d", "\ude00 \ud83d\ude00"]"#).unwrap();
        assert_eq!(cut, br#"["\ufffd", "\ufffd \ud83d\ude00"]"#);
    }
}
