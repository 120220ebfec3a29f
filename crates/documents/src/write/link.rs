//! Targets of hyperlinks.

/// Schemes that may become links; with any other scheme only the text is written.
const SAFE_SCHEMES: [&str; 8] = ["http", "https", "ftp", "ftps", "sftp", "mailto", "tel", "file"];

/// The target of a link, or nothing if its scheme could run code or carry data.
pub(crate) fn target(hyperlink: &str) -> Option<String> {
    let target = normal(hyperlink);
    is_safe(&target).then_some(target)
}

/// A target that cannot end a Markdown link early.
pub(crate) fn markdown(target: &str) -> String {
    let mut written = String::with_capacity(target.len());
    for (at, character) in target.char_indices() {
        match character {
            '&' if starts_entity(&target[at + 1..]) => written.push_str("&amp;"),
            '\0'..=' ' | '\x7f' | '(' | ')' | '<' | '>' | '"' | '\\' => {
                written.push('%');
                written.extend(hex(u32::from(character)));
            }
            other => written.push(other),
        }
    }
    written
}

/// The two hexadecimal digits of an ASCII character.
fn hex(code: u32) -> impl Iterator<Item = char> {
    [code / 16, code % 16]
        .into_iter()
        .filter_map(|digit| char::from_digit(digit, 16))
        .map(|c| c.to_ascii_uppercase())
}

fn starts_entity(rest: &str) -> bool {
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    name.len() < rest.len() && name.starts_with(';')
}

/// The scheme is read as browsers do: control characters before it and line breaks in it are
/// ignored. A scheme of one letter is a drive of Windows.
fn is_safe(target: &str) -> bool {
    let cleaned: String = target.chars().filter(|c| !matches!(c, '\t' | '\r' | '\n')).collect();
    let cleaned = cleaned.trim_start_matches(|c: char| c <= ' ');
    let Some((scheme, _)) = cleaned.split_once(':') else { return true };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'));
    !is_scheme || scheme.len() == 1 || SAFE_SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
}

/// URLs are written in their normal form; anything else is a path, written without empty and
/// current folders.
fn normal(hyperlink: &str) -> String {
    if let Ok(url) = url::Url::parse(hyperlink) {
        return url.into();
    }
    let rooted = if hyperlink.starts_with('/') { "/" } else { "" };
    let steps: Vec<&str> = hyperlink.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
    let path = format!("{rooted}{}", steps.join("/"));
    if path.is_empty() { ".".to_owned() } else { path }
}
