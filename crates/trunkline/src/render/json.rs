//! Pretty-prints JSON. It works on the text itself, so numbers and escapes stay exactly as
//! received.

use trunkline_protocol::Raw;

/// Indents by two spaces; empty objects and arrays stay on one line.
pub(crate) fn pretty(raw: &Raw) -> String {
    let mut out = String::with_capacity(raw.as_bytes().len() * 2);
    let mut depth = 0_usize;
    let mut characters = raw.as_str().chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' => {
                out.push('"');
                string(&mut out, &mut characters);
            }
            '{' | '[' => {
                out.push(c);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

/// Copies the rest of a string, to its closing quote.
fn string(out: &mut String, characters: &mut impl Iterator<Item = char>) {
    while let Some(c) = characters.next() {
        out.push(c);
        match c {
            '"' => return,
            '\\' => out.extend(characters.next()),
            _ => {}
        }
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_changes_and_nothing_else() {
        let text =
            r#"{"n": 123456789012345678901234567890 ,"s":"a\"{,}:\\","e":[ ],"o":{},"l":[1.50,{"x":null}]}"#;
        insta::assert_snapshot!(pretty(&Raw::parse(text).unwrap()), @r#"
        {
          "n": 123456789012345678901234567890,
          "s": "a\"{,}:\\",
          "e": [],
          "o": {},
          "l": [
            1.50,
            {
              "x": null
            }
          ]
        }
        "#);
    }
}
