//! Challenges: any `WWW-Authenticate` header can be parsed, a parsed challenge survives a round
//! trip, and the parser understands the challenges that we send.

use std::fmt::Write as _;
use trunkline_auth as auth;
use trunkline_transport::http::Challenge;

pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let found = Challenge::read(&text);
    let size = |challenge: &Challenge| {
        challenge.scheme.len()
            + challenge.parameters().map(|(name, value)| name.len() + value.len()).sum::<usize>()
    };
    assert!(found.iter().map(size).sum::<usize>() <= text.len());
    comes_back(&found);
    ours_are_understood(&text);
}

fn comes_back(found: &[Challenge]) {
    let mut written = String::new();
    for challenge in found {
        // Only the first challenge may lack a scheme.
        assert!(is_token(&challenge.scheme) || (challenge.scheme.is_empty() && written.is_empty()));
        written.push_str(&challenge.scheme);
        for (at, (name, value)) in challenge.parameters().enumerate() {
            assert!(is_token(name));
            assert!(
                challenge.get(name).is_some() || challenge.parameters().any(|(_, value)| value.is_empty())
            );
            let before = if at == 0 { " " } else { ", " };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            write!(written, "{before}{name}=\"{value}\"").expect("a String takes all text");
        }
        written.push_str(", ");
    }
    assert_eq!(Challenge::read(&written), found, "{written}");
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Parses our own challenge, made from any settings.
fn ours_are_understood(text: &str) {
    let ours = auth::Challenge { resource_metadata: Some(text.to_owned()), scopes: vec![text.to_owned()] };
    let header = ours.unauthorized(&auth::AuthError::Expired);
    let [challenge] = &Challenge::read(&header)[..] else { panic!("more than one challenge in {header}") };
    let sent: String = text.chars().filter(|c| (' '..='~').contains(c)).collect();
    let sent = Some(sent.as_str()).filter(|sent| !sent.is_empty());
    assert_eq!(challenge.scheme, "Bearer");
    assert_eq!(challenge.get("error"), Some("invalid_token"));
    assert_eq!((challenge.get("resource_metadata"), challenge.get("scope")), (sent, sent));
}
