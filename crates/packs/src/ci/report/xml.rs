//! A reader of XML reports: elements, attributes and text. It supports only the five predefined
//! entities and numeric characters, no document types, and does not recurse.

use std::borrow::Cow;

/// Maximum length of an entity name: `#x10FFFF`.
const LONGEST_NAME: usize = 8;

/// One event of the XML reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event<'a> {
    Start(Element<'a>),
    /// The end of an element of this name; also reported after the start of an empty element.
    End(&'a str),
    Text(Cow<'a, str>),
}

/// The start of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub(super) name: &'a str,
    attributes: &'a str,
}

/// The events of `document`, up to its end or the first syntax error.
pub(super) fn events(document: &str) -> impl Iterator<Item = Event<'_>> {
    let mut rest = document;
    let mut empty: Option<&str> = None;
    std::iter::from_fn(move || {
        if let Some(name) = empty.take() {
            return Some(Event::End(name));
        }
        loop {
            if rest.is_empty() {
                return None;
            }
            let Some(markup) = rest.strip_prefix('<') else {
                let end = rest.find('<').unwrap_or(rest.len());
                let (text, next) = rest.split_at(end);
                rest = next;
                return Some(Event::Text(decoded(text)));
            };
            if let Some(data) = markup.strip_prefix("![CDATA[") {
                let (text, next) = data.split_once("]]>")?;
                rest = next;
                return Some(Event::Text(Cow::Borrowed(text)));
            }
            if let Some(comment) = markup.strip_prefix("!--") {
                rest = comment.split_once("-->")?.1;
                continue;
            }
            let end = tag_end(markup)?;
            let (tag, next) = (&markup[..end], &markup[end + 1..]);
            rest = next;
            if tag.starts_with(['?', '!']) {
                continue;
            }
            if let Some(name) = tag.strip_prefix('/') {
                return Some(Event::End(name.trim_end()));
            }
            let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            empty = is_empty.then_some(name);
            return Some(Event::Start(Element { name, attributes }));
        }
    })
}

impl Element<'_> {
    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, next) = after[1..].split_once(quote)?;
            if key.trim() == name {
                return Some(decoded(value).into_owned());
            }
            rest = next;
        }
    }
}

/// Position of the `>` that ends a tag; a `>` in quotes does not.
fn tag_end(markup: &str) -> Option<usize> {
    let mut quote = None;
    markup.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '>') => return Some(at),
            _ => {}
        }
        None
    })
}

fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let Some((name, next)) = entity(after) else {
            plain.push('&');
            rest = after;
            continue;
        };
        match name {
            "lt" => plain.push('<'),
            "gt" => plain.push('>'),
            "amp" => plain.push('&'),
            "quot" => plain.push('"'),
            "apos" => plain.push('\''),
            other => plain.extend(by_number(other)),
        }
        rest = next;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The name of an entity and the text after it. The search is limited to the maximum length, so
/// that a lone `&` does not cause a scan of the whole text.
fn entity(after: &str) -> Option<(&str, &str)> {
    let end = after.bytes().take(LONGEST_NAME + 1).position(|byte| byte == b';')?;
    Some((&after[..end], &after[end + 1..]))
}

fn by_number(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_text_are_read() {
        let document =
            "<?xml version='1.0'?><!-- <x> --><a k=\"1 &gt; &#48;\" l='>'><b/>t&amp;<![CDATA[<c>]]></a>";
        let all: Vec<_> = events(document).collect();
        let Event::Start(a) = &all[0] else { panic!("{all:?}") };
        assert_eq!(
            (a.name, a.get("k").as_deref(), a.get("l").as_deref(), a.get("m")),
            ("a", Some("1 > 0"), Some(">"), None)
        );
        assert!(matches!(&all[1], Event::Start(b) if b.name == "b"));
        assert_eq!(
            all[2..],
            [Event::End("b"), Event::Text("t&".into()), Event::Text("<c>".into()), Event::End("a")]
        );
    }

    #[test]
    fn a_torn_document_is_read_up_to_the_tear() {
        assert_eq!(events("<a>x<b y=\"").count(), 2);
        assert_eq!(events("<a><![CDATA[x").count(), 1);
    }
}
