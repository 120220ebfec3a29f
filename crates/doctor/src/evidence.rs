//! Evidence of a problem: frames, error output, headers, facts. It is shortened, and masked when
//! it enters a diagnosis.

use serde::Serialize;

/// Bytes kept per piece.
const SHOWN: usize = 2000;

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub kind: Kind,
    pub text: String,
}

/// The kind of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A frame we sent.
    Sent,
    /// A frame the server sent.
    Received,
    /// A line on the server's standard output that is not a message.
    Output,
    /// The server's standard error.
    Stderr,
    /// Status and headers of a response.
    Head,
    /// The beginning of a response body.
    Body,
    /// Something that was looked up or measured.
    Fact,
}

impl Evidence {
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self { kind, text: shorten(text.trim_end()) }
    }

    pub fn fact(text: impl Into<String>) -> Self {
        Self::new(Kind::Fact, text)
    }
}

/// Cuts a long text and appends how much is missing.
fn shorten(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let end = (0..=SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{} … ({} bytes in all)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let evidence = Evidence::fact("ä".repeat(5000));
        assert!(evidence.text.len() < SHOWN + 40 && evidence.text.ends_with("(10000 bytes in all)"));
    }
}
