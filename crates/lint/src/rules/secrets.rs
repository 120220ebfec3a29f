//! Secrets of well-known services, by their form.

/// How a secret begins, how long it is at least, and what it is.
const FORMS: &[(&str, usize, &str)] = &[
    ("AKIA", 20, "an AWS access key"),
    ("ASIA", 20, "an AWS access key"),
    ("ghp_", 40, "a GitHub token"),
    ("gho_", 40, "a GitHub token"),
    ("ghu_", 40, "a GitHub token"),
    ("ghs_", 40, "a GitHub token"),
    ("github_pat_", 60, "a GitHub token"),
    ("glpat-", 26, "a GitLab token"),
    ("xoxb-", 30, "a Slack token"),
    ("xoxp-", 30, "a Slack token"),
    ("sk-ant-", 40, "an API key"),
    ("sk-proj-", 40, "an API key"),
    ("sk-", 40, "an API key"),
    ("sk_live_", 24, "a payment key"),
    ("rk_live_", 24, "a payment key"),
    ("AIza", 39, "a Google API key"),
    ("npm_", 40, "an npm token"),
    ("pypi-", 60, "a PyPI token"),
    ("hf_", 34, "a Hugging Face token"),
    ("SG.", 60, "a SendGrid key"),
    ("eyJ", 100, "a JSON Web Token"),
];

/// Different characters a real secret has at least; examples repeat a few.
const VARIED: usize = 10;

/// What kind of secret is in a text, if any.
pub(super) fn find(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
    words.filter(|word| is_real(word)).find_map(|word| {
        let form = FORMS.iter().find(|(begin, length, _)| word.starts_with(begin) && word.len() >= *length);
        form.map(|(_, _, what)| *what)
    })
}

fn is_real(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let mut letters: Vec<char> = lower.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() >= VARIED
        && !["example", "xxxx", "your", "placeholder", "1234567"].iter().any(|part| lower.contains(part))
}
