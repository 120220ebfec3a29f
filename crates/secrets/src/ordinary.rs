//! Values of secret names that are not secrets: references, placeholders, code, paths and words.

use crate::mask::Caution;

/// Words that follow a secret name in ordinary text and are not values.
const WORDS: &[&str] = &[
    "argument",
    "boolean",
    "cannot",
    "denied",
    "empty",
    "expected",
    "expired",
    "expects",
    "failed",
    "false",
    "file",
    "flag",
    "found",
    "hidden",
    "integer",
    "invalid",
    "missing",
    "must",
    "none",
    "null",
    "number",
    "object",
    "option",
    "optional",
    "redacted",
    "refused",
    "rejected",
    "required",
    "requires",
    "revoked",
    "should",
    "string",
    "true",
    "undefined",
    "unknown",
    "unset",
    "value",
    "which",
    "with",
];

/// Placeholders for a value in advice texts.
const ADVICE: &[&str] = &["the real value", "the value without quotation marks"];

/// True for `${NAME}`, `$NAME`, `{env:NAME}`, `<your token>`, or the mark of a mask.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    match value {
        [b'$', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'('),
        [b'{' | b'<' | b'*', ..] => true,
        _ => value.starts_with("•".as_bytes()) || value.starts_with(b"[redacted"),
    }
}

pub(crate) fn is_word(value: &[u8]) -> bool {
    WORDS.iter().chain(ADVICE).any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

pub(crate) fn is_number(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'))
}

pub(crate) fn is_path(value: &[u8]) -> bool {
    let begins = [&b"/"[..], b"./", b"../", b"~/"].iter().any(|begin| value.starts_with(begin));
    begins && value.iter().position(|byte| *byte == b'/') != value.iter().rposition(|byte| *byte == b'/')
}

/// True for source code or data such as `Token::new(…)` and `[1, 2]`.
pub(crate) fn is_code(value: &[u8], caution: Caution) -> bool {
    let opens = value.first().is_some_and(|byte| b"([|".contains(byte));
    let has = |text: &[u8]| value.windows(text.len()).any(|window| window == text);
    opens || caution == Caution::Readable && (value[0] == b'=' || value[0] == b':' || has(b"::") || has(b"("))
}
