//! Turns JSON with comments and trailing commas into plain JSON, keeping all positions.

/// Replaces comments and trailing commas by spaces. Positions stay the same, so errors point to
/// the right line and column.
pub fn plain(text: &str) -> String {
    let mut out: Vec<u8> = text.as_bytes().to_vec();
    let mut at = 0;
    let mut comma = None;
    while at < out.len() {
        match out[at] {
            b'"' => {
                at = end_of_string(&out, at);
                comma = None;
                continue;
            }
            b'/' if out.get(at + 1) == Some(&b'/') => {
                while at < out.len() && out[at] != b'\n' {
                    out[at] = b' ';
                    at += 1;
                }
                continue;
            }
            b'/' if out.get(at + 1) == Some(&b'*') => {
                at = blank_comment(&mut out, at);
                continue;
            }
            b',' => comma = Some(at),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The position after a string.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn blank_comment(text: &mut [u8], start: usize) -> usize {
    let mut at = start;
    let mut ended = false;
    while at < text.len() && !ended {
        ended = at > start + 2 && text[at] == b'/' && text[at - 1] == b'*';
        if text[at] != b'\n' || ended {
            text[at] = if ended || text[at] != b'*' { b' ' } else { b'*' };
        }
        at += 1;
    }
    for byte in &mut text[start..at] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_go_and_strings_stay() {
        let text = "{ // ä\n \"a\": \"//x/*y*/,]\", /* b\n c */ \"l\": [1, 2,\n], }";
        let plain = plain(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.lines().count(), text.lines().count());
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value["a"], "//x/*y*/,]");
        assert_eq!(value["l"][1], 2);
    }

    #[test]
    fn what_never_ends_is_no_trouble() {
        for text in ["\"", "\"\\", "/*", "/*/", "//", "{\"a\":1,", "[,]"] {
            assert_eq!(plain(text).len(), text.len());
        }
    }
}
