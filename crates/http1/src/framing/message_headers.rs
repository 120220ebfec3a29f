//! The headers that say where a message ends and whether the connection stays open after it.

use super::{Chunked, Framing, FramingError};

/// Collected header by header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeaders {
    content_length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl MessageHeaders {
    /// Reads one header; true if it is one of these.
    pub fn add(&mut self, name: &str, value: &[u8]) -> Result<bool, FramingError> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            10 if is("connection") => {
                let mut options = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                self.close |= options.clone().any(|option| option.eq_ignore_ascii_case(b"close"));
                self.keep_alive |= options.any(|option| option.eq_ignore_ascii_case(b"keep-alive"));
            }
            14 if is("content-length") => match self.content_length.replace(parse_length(value)?) {
                None => {}
                Some(_) => return Err(FramingError::RepeatedLength),
            },
            17 if is("transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(FramingError::TransferCoding);
                }
                self.chunked = true;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The framing that the headers declare, if any.
    pub fn framing(&self, version: Version) -> Result<Option<Framing>, FramingError> {
        match (self.chunked, self.content_length) {
            (true, Some(_)) => Err(FramingError::LengthAndCoding),
            // HTTP/1.0 has no chunked coding, so a proxy passed on a header it did not understand.
            (true, None) if version == Version::Http10 => Err(FramingError::TransferCoding),
            (true, None) => Ok(Some(Framing::Chunked(Chunked::default()))),
            (false, length) => Ok(length.map(Framing::Length)),
        }
    }

    /// True if the sender keeps the connection open after this message.
    pub fn keeps_alive(&self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep_alive)
    }
}

/// The HTTP version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Http10,
    Http11,
}

impl Version {
    /// From the digit after `HTTP/1.`.
    pub fn from_minor(minor: Option<u8>) -> Self {
        if minor == Some(0) { Self::Http10 } else { Self::Http11 }
    }
}

/// Only digits: no sign, no list, no whitespace.
fn parse_length(value: &[u8]) -> Result<u64, FramingError> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(value).ok().filter(|_| digits);
    text.and_then(|text| text.parse().ok()).ok_or(FramingError::Length)
}
