//! Keys and passwords, known by how they begin.

/// Beginnings of well-known keys, and how many characters follow at least.
const KEYS: [(&str, &str, usize); 9] = [
    ("an AWS key", "AKIA", 16),
    ("a GitHub token", "ghp_", 36),
    ("a GitHub token", "github_pat_", 40),
    ("a Slack token", "xoxb-", 20),
    ("a Google key", "AIza", 35),
    ("an OpenAI key", "sk-proj-", 20),
    ("an Anthropic key", "sk-ant-", 20),
    ("a Stripe key", "sk_live_", 20),
    ("a private key", "-----BEGIN", 10),
];

/// What kind of key a text holds.
pub(super) fn find(text: &str) -> Option<&'static str> {
    let fits = |c: &char| c.is_ascii_alphanumeric() || "-_ ".contains(*c);
    for (what, beginning, least) in KEYS {
        for (at, _) in text.match_indices(beginning) {
            let rest = &text[at + beginning.len()..];
            let varied = rest.chars().take(least).any(|c| c.is_ascii_digit()) || beginning.starts_with('-');
            if rest.chars().take_while(fits).count() >= least && varied {
                return Some(what);
            }
        }
    }
    has_password(text).then_some("an address with a password")
}

/// Words that stand where a password would, in examples.
const EXAMPLES: [&str; 8] = ["pass", "secret", "pwd", "token", "xxx", "changeme", "example", "your"];

/// Whether a text has an address such as `postgres://admin:hunter2!Xy@host/`.
fn has_password(text: &str) -> bool {
    text.match_indices("://").any(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| c.is_whitespace() || "/\"'<>`".contains(c)).unwrap_or(rest.len());
        let Some((user, host)) = rest[..end].rsplit_once('@') else { return false };
        let Some((_, password)) = user.split_once(':') else { return false };
        let lower = password.to_lowercase();
        let example =
            EXAMPLES.iter().any(|word| lower.starts_with(word)) || password.contains(['$', '{', '*', '<']);
        password.len() >= 6
            && password.chars().any(|c| c.is_ascii_digit())
            && !example
            && !host.starts_with("localhost")
    })
}
