//! Parses `WWW-Authenticate` (RFC 9110 §11.6.1) leniently, because servers write it in many ways.

/// One authentication scheme with its parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Such as `Bearer`; empty for parameters without a scheme.
    pub scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// The challenges in a header value. Invalid parts are skipped.
    pub fn read(header: &str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut rest = header;
        let mut begins = true;
        loop {
            let next = rest.trim_start_matches([' ', '\t', ',']);
            begins |= rest[..rest.len() - next.len()].contains(',');
            let (word, after) = next.split_at(next.find(|c| !is_of_token(c)).unwrap_or(next.len()));
            let Some(first) = next.chars().next() else { return found };
            if word.is_empty() {
                rest = if first == '"' { quoted(&next[1..]).1 } else { &next[first.len_utf8()..] };
                continue;
            }
            if let Some(value) = after.trim_start_matches([' ', '\t']).strip_prefix('=') {
                let (value, after) = value_at(value.trim_start_matches([' ', '\t']));
                if found.is_empty() {
                    found.push(Self::default());
                }
                found
                    .last_mut()
                    .expect("one was there or put there")
                    .parameters
                    .push((word.to_owned(), value));
                rest = after;
            } else {
                // A word after a scheme is a `token68`, which we do not need.
                if begins {
                    found.push(Self { scheme: word.to_owned(), ..Self::default() });
                }
                rest = after;
            }
            begins = false;
        }
    }

    /// The value of a parameter; `None` if it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let named = self.parameters.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The parameters in their order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A value and the text after it. URLs are often written without quotes, although the grammar does
/// not allow that.
fn value_at(text: &str) -> (String, &str) {
    if let Some(inside) = text.strip_prefix('"') {
        return quoted(inside);
    }
    let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
    (text[..end].to_owned(), &text[end..])
}

/// The unescaped text before the closing quote, and the text after it.
fn quoted(inside: &str) -> (String, &str) {
    let mut value = String::new();
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => value.extend(rest.next()),
            c => value.push(c),
        }
    }
    (value, rest.as_str())
}

/// RFC 9110 `tchar`.
fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> Vec<(String, Vec<(String, String)>)> {
        Challenge::read(header)
            .into_iter()
            .map(|challenge| (challenge.scheme, challenge.parameters))
            .collect()
    }

    fn one(scheme: &str, parameters: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        (scheme.to_owned(), parameters.iter().map(owned).collect())
    }

    #[test]
    fn challenges_are_read_one_by_one() {
        let header = r#"Basic realm="a, b", Bearer error = "x\"y\\", scope="a b" ,,Negotiate aGk=, Digest"#;
        assert_eq!(
            read(header),
            [
                one("Basic", &[("realm", "a, b")]),
                one("Bearer", &[("error", "x\"y\\"), ("scope", "a b")]),
                one("Negotiate", &[("aGk", "")]),
                one("Digest", &[]),
            ]
        );
    }

    #[test]
    fn a_parameter_is_found_by_its_whole_name_only() {
        let header = r#"Bearer realm="scope=no", xscope="no", Scope="yes", resource_metadata=https://h/x?a=b, empty="""#;
        let challenge = &Challenge::read(header)[0];
        assert_eq!(challenge.get("scope"), Some("yes"));
        assert_eq!(challenge.get("resource_metadata"), Some("https://h/x?a=b"));
        assert_eq!(challenge.get("empty"), None);
        assert_eq!(challenge.parameters().count(), 5);
    }

    #[test]
    fn what_is_written_badly_is_read_as_far_as_it_goes() {
        assert_eq!(read("a=b"), [one("", &[("a", "b")])]);
        assert_eq!(read(r#"Bearer a="b c=d"#), [one("Bearer", &[("a", "b c=d")])]);
        assert_eq!(read("Bearer a=b c=d"), [one("Bearer", &[("a", "b"), ("c", "d")])]);
        assert_eq!(read("Bearer \u{e4} \"x=y\" a=b"), [one("Bearer", &[("a", "b")])]);
        assert_eq!(read("Basic aGk"), [one("Basic", &[])]);
        assert_eq!(read(" ,"), []);
    }
}
