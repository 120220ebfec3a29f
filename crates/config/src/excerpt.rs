//! Excerpt: a line of a file for display. Likely secrets are masked character by character, so
//! that columns stay the same.

use crate::looks;

/// The line with its secrets masked.
pub fn covered(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut rest, mut before) = (line, "");
    while let Some((start, end)) = next_text(rest) {
        let text = &rest[start..end];
        out.push_str(&rest[..start]);
        if is_secret(before, text) {
            out.extend(text.chars().map(|_| '*'));
        } else {
            out.push_str(text);
        }
        before = text;
        rest = &rest[end..];
        // Past the closing quote, if there is one.
        if let Some(after) = rest.strip_prefix('"') {
            out.push('"');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn is_secret(before: &str, text: &str) -> bool {
    looks::secret(before, text)
        || looks::secret_argument(Some(before), text).is_some()
        || looks::masked_address(text).is_some()
}

/// Start and end of the content of the next quoted string. An unclosed one ends with the line.
fn next_text(line: &str) -> Option<(usize, usize)> {
    let start = line.find('"')? + 1;
    let mut escaped = false;
    for (offset, c) in line[start..].char_indices() {
        if c == '"' && !escaped {
            return Some((start, start + offset));
        }
        escaped = c == '\\' && !escaped;
    }
    Some((start, line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_covered_and_columns_stay() {
        let line = r#"  "env": { "API_KEY": "abcdéfgh12", "LANG": "C" }, "c": ["--token", "abcdefgh12"#;
        assert_eq!(
            covered(line),
            r#"  "env": { "API_KEY": "**********", "LANG": "C" }, "c": ["--token", "**********"#
        );
        assert_eq!(covered(r#""url": "https://h/?key=abcdefgh12""#), r#""url": "*************************""#);
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        for line in
            ["", "}", r#"  "command": ["npx", "-y", "@scope/name@1.2.3"], // "#, r#""TOKEN": "{env:TOKEN}""#]
        {
            assert_eq!(covered(line), line);
        }
    }
}
