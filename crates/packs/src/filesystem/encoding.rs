//! Encodings of text files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trunkline_toolbox::ToolError;

/// An encoding of file content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "utf-16le")]
    Utf16Le,
    #[serde(rename = "utf-16be")]
    Utf16Be,
    #[serde(rename = "latin-1")]
    Latin1,
    #[serde(rename = "base64")]
    Base64,
}

/// The text of a file, with the encoding and byte order mark needed to write it back.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) text: String,
    pub(super) encoding: Encoding,
    mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    None,
    Present,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16LE_MARK: &[u8] = b"\xff\xfe";
const UTF16BE_MARK: &[u8] = b"\xfe\xff";

impl Encoding {
    /// The encoding given by the byte order mark; UTF-8 if there is none.
    pub(super) fn detect(start: &[u8]) -> Self {
        if start.starts_with(UTF16LE_MARK) {
            Self::Utf16Le
        } else if start.starts_with(UTF16BE_MARK) {
            Self::Utf16Be
        } else {
            Self::Utf8
        }
    }

    fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => UTF8_MARK,
            Self::Utf16Le => UTF16LE_MARK,
            Self::Utf16Be => UTF16BE_MARK,
            Self::Latin1 | Self::Base64 => &[],
        }
    }

    /// Decodes bytes strictly: invalid bytes are an error, not replaced. `position` is the offset
    /// of the bytes in the file.
    pub(super) fn decode(self, bytes: &[u8], position: u64, label: &str) -> Result<String, ToolError> {
        match self {
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(text.to_owned()),
                Ok(text) => Err(not_text(label, bytes, position, text.find('\0').unwrap_or(0))),
                Err(error) => Err(not_text(label, bytes, position, error.valid_up_to())),
            },
            Self::Latin1 => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes, label),
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes, label),
            Self::Base64 => Ok(super::window::base64(bytes)),
        }
    }
}

impl Document {
    /// Decodes a whole text file; the byte order mark selects the encoding.
    pub(super) fn read(bytes: &[u8], label: &str) -> Result<Self, ToolError> {
        let encoding = Encoding::detect(bytes);
        let (mark, rest) = match bytes.strip_prefix(encoding.mark()) {
            Some(rest) => (Mark::Present, rest),
            None => (Mark::None, bytes),
        };
        Ok(Self { text: encoding.decode(rest, 0, label)?, encoding, mark })
    }

    /// Encodes another text in the same way as this one.
    pub(super) fn encode(&self, text: &str) -> Vec<u8> {
        let mut bytes = match self.mark {
            Mark::Present => self.encoding.mark().to_vec(),
            Mark::None => Vec::new(),
        };
        match self.encoding {
            Encoding::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Encoding::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Utf8 | Encoding::Latin1 | Encoding::Base64 => bytes.extend_from_slice(text.as_bytes()),
        }
        bytes
    }
}

pub(super) fn without_mark(bytes: &[u8], encoding: Encoding) -> &[u8] {
    bytes.strip_prefix(encoding.mark()).unwrap_or(bytes)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, label: &str) -> Result<String, ToolError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect();
    text.ok().filter(|_| rest.is_empty()).ok_or_else(|| {
        ToolError::new(format!("`{label}` is not valid UTF-16")).hint("read it with encoding: \"base64\"")
    })
}

fn not_text(label: &str, bytes: &[u8], position: u64, at: usize) -> ToolError {
    let byte = bytes.get(at).copied().unwrap_or(0);
    let message = format!("`{label}` is not UTF-8 text: byte {byte:#04x} at offset {}", position + at as u64);
    let hint = match zeros(bytes) {
        Zeros::Odd => "it looks like UTF-16; read it with encoding: \"utf-16le\"",
        Zeros::Even => "it looks like UTF-16; read it with encoding: \"utf-16be\"",
        Zeros::None => "read it with encoding: \"latin-1\" if it is old text, or \"base64\" for the bytes",
        Zeros::Mixed => {
            "it looks binary; read it with encoding: \"base64\", or use read_media_file for images and sound"
        }
    };
    ToolError::new(message).hint(hint)
}

/// Positions of zero bytes: UTF-16 text mostly has them at every second position.
enum Zeros {
    None,
    Odd,
    Even,
    Mixed,
}

fn zeros(bytes: &[u8]) -> Zeros {
    let count = |offset: usize| bytes.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (count(0), count(1), bytes.len() / 2);
    match (even, odd) {
        (0, 0) => Zeros::None,
        (0, odd) if odd * 2 > half => Zeros::Odd,
        (even, 0) if even * 2 > half => Zeros::Even,
        _ => Zeros::Mixed,
    }
}
