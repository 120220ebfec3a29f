//! Credentials in URLs: `scheme://user:password@host`, `scheme://token@host`, and query
//! parameters.

use crate::{token::is_token, value::is_secret};
use std::ops::Range;

/// First bytes of values that are not passwords: references, and the marks of a mask.
const PLACEHOLDERS: [&[u8]; 4] = [b"$", b"{", b"<", b"*"];

/// User names that are not tokens although no password follows: `ssh://git@host`.
const USERS: [&[u8]; 2] = [b"git", b"hg"];

/// Minimum length from which on a user name with a digit may be a token, as in
/// `https://<token>:x-oauth-basic@host`.
const LONG_USER: usize = 20;

/// The URL with its password and secret query parameters replaced by `mark`; `None` if it has
/// none.
pub fn masked_address(text: &str, mark: &str) -> Option<String> {
    let mut hidden: Vec<Range<usize>> = Vec::new();
    if let Some(at) = text.find("://") {
        hidden.extend(password(text.as_bytes(), at + 3));
    }
    let query = text.find('?').map_or(text.len(), |at| at + 1);
    let end = text[query..].find('#').map_or(text.len(), |at| query + at);
    let mut start = query;
    for pair in text[query..end].split('&') {
        if let Some((name, value)) = pair.split_once('=')
            && is_secret(name, value)
            && !value.contains('{')
        {
            let from = start + name.len() + 1;
            hidden.push(from..from + value.len());
        }
        start += pair.len() + 1;
    }
    let mut masked = text.to_owned();
    hidden.iter().rev().for_each(|range| masked.replace_range(range.clone(), mark));
    (masked != text).then_some(masked)
}

/// True if the text is a URL with a nonempty password.
pub(crate) fn has_password(text: &str) -> bool {
    text.find("://").is_some_and(|at| {
        let scheme = &text.as_bytes()[..at];
        let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
        is_scheme && password(text.as_bytes(), at + 3).is_some()
    })
}

/// The range of the password in the authority that begins at `start`.
pub(crate) fn password(text: &[u8], start: usize) -> Option<Range<usize>> {
    let info = userinfo(text, start)?;
    let colon = info.start + memchr::memchr(b':', &text[info.clone()])?;
    let password = colon + 1..info.end;
    (!password.is_empty() && !is_placeholder(&text[password.clone()])).then_some(password)
}

/// The range to hide in the authority that begins at `start`: the password, and the user if that
/// is a token.
pub(crate) fn hidden(text: &[u8], start: usize) -> Option<Range<usize>> {
    let info = userinfo(text, start)?;
    let colon = memchr::memchr(b':', &text[info.clone()]).map(|at| info.start + at);
    let user = &text[info.start..colon.unwrap_or(info.end)];
    let has_password = colon.is_some_and(|colon| colon + 1 < info.end);
    let is_token = std::str::from_utf8(user).is_ok_and(is_token)
        || user.len() >= LONG_USER && user.iter().any(u8::is_ascii_digit);
    match colon {
        Some(colon) if has_password && !is_token => {
            (!is_placeholder(&text[colon + 1..info.end])).then_some(colon + 1..info.end)
        }
        _ if USERS.contains(&user) || info.is_empty() || is_placeholder(user) => None,
        _ => Some(info),
    }
}

/// The range before the last `@` of the authority that begins at `start`.
fn userinfo(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'<>`\\".contains(byte);
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let at = memchr::memrchr(b'@', &rest[..end])?;
    Some(start..start + at)
}

fn is_placeholder(text: &[u8]) -> bool {
    PLACEHOLDERS.iter().any(|mark| text.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_query_parameters_are_hidden() {
        for (text, masked) in [
            ("https://h/mcp?api_key=abc12345&x=1#f", Some("https://h/mcp?api_key=***&x=1#f")),
            ("https://me:pw@h/mcp?x=1", Some("https://me:***@h/mcp?x=1")),
            ("https://h/mcp?x=1", None),
            ("https://h/@scope/name", None),
        ] {
            assert_eq!(masked_address(text, "***").as_deref(), masked);
        }
    }

    #[test]
    fn a_user_is_hidden_if_it_may_be_a_token() {
        let shown = |text: &str| {
            let range = hidden(text.as_bytes(), text.find("://").unwrap() + 3)?;
            Some(text[range].to_owned())
        };
        assert_eq!(shown("postgresql://bob:s3cr3tPW@localhost/db").unwrap(), "s3cr3tPW");
        assert_eq!(shown("redis://:pw@h").unwrap(), "pw");
        assert_eq!(shown("https://tok@h/").unwrap(), "tok");
        assert_eq!(
            shown("https://0123456789abcdef0123:x-oauth-basic@h").unwrap(),
            "0123456789abcdef0123:x-oauth-basic"
        );
        assert_eq!(shown("https://sk_live_0123456789:@h").unwrap(), "sk_live_0123456789:");
        assert_eq!(shown("ssh://git@h/x"), None);
        assert_eq!(shown("https://me:${PASSWORD}@h"), None);
        assert_eq!(shown("https://h/a@b"), None);
    }
}
