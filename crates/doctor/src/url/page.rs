//! Classifies an HTML page that came instead of a JSON-RPC message.

use super::{Site, request::Reply};
use crate::{cause::Cause, diagnosis::Problem};

const CHALLENGES: [&str; 7] = [
    "just a moment",
    "cf-chl",
    "challenge-platform",
    "attention required",
    "captcha",
    "checking your browser",
    "ddos-guard",
];
const SIGN_INS: [&str; 8] = [
    "type=\"password\"",
    "type='password'",
    "type=password",
    "sign in",
    "log in",
    "login",
    "single sign-on",
    "authenticate",
];

/// True if the page is a bot challenge or a login form, and not just the server's error page.
pub(super) fn is_challenge_or_login(reply: &Reply) -> bool {
    let text = reply.text().to_lowercase();
    let words = CHALLENGES.iter().chain(&SIGN_INS[..3]);
    reply.is_html()
        && (reply.header("cf-mitigated").is_some() || words.into_iter().any(|word| text.contains(word)))
}

pub(super) fn explain(site: &Site<'_>, reply: &Reply) -> Problem {
    let text = reply.text().to_lowercase();
    let title = title(&text).map_or_else(|| "a page".to_owned(), |title| format!("a page `{title}`"));
    let path = site.address.path();
    if reply.header("cf-mitigated").is_some() || CHALLENGES.iter().any(|word| text.contains(word)) {
        return Problem::new(Cause::CdnChallenge, format!("{title} wants proof that you are human"))
            .fix(format!("take the path {path} out of the bot protection of the content network (Cloudflare: a skip rule)"));
    }
    if SIGN_INS.iter().any(|word| text.contains(word)) {
        return Problem::new(Cause::LoginPage, format!("{title} wants you to sign in"))
            .fix(format!("let {path} through the sign-in of the proxy, and protect it with bearer tokens: -H 'Authorization: Bearer …'"));
    }
    Problem::new(Cause::HtmlPage, format!("status {}: {title}, no message", reply.status.as_u16()))
        .fix("use the address of the MCP endpoint; it is mostly /mcp, for old servers /sse")
}

fn title(text: &str) -> Option<String> {
    let start = text.find("<title")?;
    let start = start + text[start..].find('>')? + 1;
    let end = start + text[start..].find("</title")?;
    let title = text[start..end].trim();
    (!title.is_empty() && title.len() < 120).then(|| title.to_owned())
}
