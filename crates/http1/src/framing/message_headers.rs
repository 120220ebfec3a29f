//! What the fields of a message say of its end, and of what comes behind it.

use super::{BadFraming, Chunked, Framing};

/// Gathered field by field.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    length: Option<u64>,
    chunked: bool,
    says_close: bool,
    says_keep_alive: bool,
}

impl Declared {
    /// Takes note of one field; tells whether it matters here.
    pub fn add(&mut self, name: &str, value: &[u8]) -> Result<bool, BadFraming> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            10 if is("connection") => {
                let mut options = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                self.says_close |= options.clone().any(|option| option.eq_ignore_ascii_case(b"close"));
                self.says_keep_alive |= options.any(|option| option.eq_ignore_ascii_case(b"keep-alive"));
            }
            14 if is("content-length") => match self.length.replace(length(value)?) {
                None => {}
                Some(_) => return Err(BadFraming::Lengths),
            },
            17 if is("transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(BadFraming::Coding);
                }
                self.chunked = true;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Where the body of a message of this version ends; none if nothing is said of it.
    pub fn framing(&self, version: Version) -> Result<Option<Framing>, BadFraming> {
        match (self.chunked, self.length) {
            (true, Some(_)) => Err(BadFraming::LengthAndCoding),
            // It came with HTTP/1.1, so somebody on the way did not understand it.
            (true, None) if version == Version::Old => Err(BadFraming::Coding),
            (true, None) => Ok(Some(Framing::Chunked(Chunked::default()))),
            (false, length) => Ok(length.map(Framing::Length)),
        }
    }

    /// Whether the sender means to go on with the connection.
    pub fn keeps(&self, version: Version) -> bool {
        !self.says_close && (version == Version::Usual || self.says_keep_alive)
    }
}

/// Which HTTP a peer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.0
    Old,
    /// 1.1
    Usual,
}

impl Version {
    /// From the digit behind `HTTP/1.`.
    pub fn of(minor: Option<u8>) -> Self {
        if minor == Some(0) { Self::Old } else { Self::Usual }
    }
}

/// A length is digits and nothing else.
fn length(value: &[u8]) -> Result<u64, BadFraming> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(value).ok().filter(|_| digits);
    text.and_then(|text| text.parse().ok()).ok_or(BadFraming::Length)
}
