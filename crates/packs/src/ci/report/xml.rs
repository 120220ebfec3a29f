//! Elements, attributes and text of XML reports, read leniently, since tests may have written part
//! of a report when they were ended. Only predefined entities and numeric characters are expanded.

use std::borrow::Cow;

use quick_xml::{
    Reader,
    escape::{resolve_xml_entity, unescape},
    events::{BytesEnd, BytesRef, BytesStart, Event as XmlEvent},
};

/// One event of the XML reader.
#[derive(Debug)]
pub(super) enum Event<'a> {
    Start(Element<'a>),
    /// The end of the element of this name; also reported after the start of an empty element.
    End(BytesEnd<'a>),
    Text(Cow<'a, str>),
}

/// The start of an element.
#[derive(Debug)]
pub(super) struct Element<'a>(BytesStart<'a>);

/// The events of `document`, up to its end or the first syntax error.
pub(super) fn events(document: &str) -> impl Iterator<Item = Event<'_>> {
    let mut reader = Reader::from_str(document);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    config.expand_empty_elements = true;
    std::iter::from_fn(move || {
        loop {
            return match reader.read_event().ok()? {
                XmlEvent::Start(start) => Some(Event::Start(Element(start))),
                XmlEvent::End(end) => Some(Event::End(end)),
                XmlEvent::Text(text) => Some(Event::Text(text.into_inner())),
                XmlEvent::CData(text) => Some(Event::Text(text.into_inner())),
                XmlEvent::GeneralRef(entity) => Some(Event::Text(expanded(&entity))),
                XmlEvent::Eof => None,
                _ => continue,
            };
        }
    })
}

/// The character of a reference; nothing for entities that a document type would have to define.
fn expanded(entity: &BytesRef<'_>) -> Cow<'static, str> {
    match entity.resolve_char_ref() {
        Ok(Some(character)) => character.to_string().into(),
        _ => resolve_xml_entity(entity).unwrap_or_default().into(),
    }
}

impl Element<'_> {
    pub(super) fn name(&self) -> &str {
        self.0.name().0
    }

    /// The value of an attribute. Line breaks stay, unlike in the normalization of XML, because
    /// some tools write messages of several lines into attributes.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let attribute = self.0.try_get_attribute(name).ok()??;
        Some(unescape(&attribute.value).map_or_else(|_| attribute.value.to_string(), Cow::into_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of<'a>(event: &'a Event<'_>) -> Option<&'a str> {
        if let Event::Text(text) = event { Some(text) } else { None }
    }

    #[test]
    fn elements_attributes_and_text_are_read() {
        let document =
            "<?xml version='1.0'?><!-- <x> --><a k=\"1 &gt; &#48;\" l='>'><b/>t&amp;<![CDATA[<c>]]></a>";
        let all: Vec<_> = events(document).collect();
        let Event::Start(a) = &all[0] else { panic!("{all:?}") };
        assert_eq!(
            (a.name(), a.get("k").as_deref(), a.get("l").as_deref(), a.get("m")),
            ("a", Some("1 > 0"), Some(">"), None)
        );
        assert!(matches!(&all[1], Event::Start(b) if b.name() == "b"));
        assert!(matches!(&all[2], Event::End(b) if &**b == "b"));
        let text: String = all.iter().filter_map(text_of).collect();
        assert_eq!(text, "t&<c>");
        assert!(matches!(&all[6], Event::End(a) if &**a == "a"));
    }

    #[test]
    fn a_torn_document_is_read_up_to_the_tear() {
        assert_eq!(events("<a>x<b y=\"").count(), 2);
        assert_eq!(events("<a><![CDATA[x").count(), 1);
    }
}
