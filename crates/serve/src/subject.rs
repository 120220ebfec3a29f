//! The subject of a client certificate as text, by which roles name the caller.
//!
//! Two subjects must never have the same text: an authority may let its clients choose their common
//! names, and `CN=ada, O=Admins` as one common name is not the name `ada` of `Admins`. So
//! everything that separates parts of a name is escaped in their values, as RFC 4514 does it.

use std::fmt::Write as _;
use x509_parser::{
    asn1_rs::Tag,
    prelude::X509Error,
    x509::{AttributeTypeAndValue, RelativeDistinguishedName, X509Name},
};

/// The subject, such as `CN=ada, O=Example`; `None` if it is empty or not readable, so that it
/// identifies nobody.
pub(crate) fn text_of(subject: &X509Name<'_>) -> Option<String> {
    let part = |rdn: &RelativeDistinguishedName<'_>| {
        let attributes = rdn.iter().map(attribute).collect::<Result<Vec<_>, _>>();
        attributes.map(|attributes| attributes.join(" + "))
    };
    let parts = subject.iter().map(part).collect::<Result<Vec<_>, X509Error>>().ok()?;
    Some(parts.join(", ")).filter(|text| !text.is_empty())
}

fn attribute(attribute: &AttributeTypeAndValue<'_>) -> Result<String, X509Error> {
    // The name of one attribute alone is `type=value`, and no type contains `=`.
    let alone = X509Name::new(vec![RelativeDistinguishedName::new(vec![attribute.clone()])], &[]);
    let text = alone.to_string_with_registry(x509_parser::objects::oid_registry())?;
    let (kind, value) = text.split_once('=').ok_or(X509Error::InvalidAttributes)?;
    let value = if is_text(attribute.attr_value().tag()) { escaped(value) } else { format!("#{value}") };
    Ok(format!("{kind}={value}"))
}

/// True for values that are texts; others are written in hexadecimal.
fn is_text(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::NumericString
            | Tag::VisibleString
            | Tag::PrintableString
            | Tag::GeneralString
            | Tag::GraphicString
            | Tag::T61String
            | Tag::Utf8String
            | Tag::Ia5String
            | Tag::BmpString
    )
}

fn escaped(value: &str) -> String {
    let last = value.char_indices().next_back().map_or(0, |(at, _)| at);
    let mut text = String::with_capacity(value.len());
    for (at, character) in value.char_indices() {
        let is_edge = at == 0 || at == last;
        let separates = matches!(character, ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=');
        if character.is_control() {
            write!(text, "\\{:02X}", u32::from(character)).expect("a String takes any text");
            continue;
        }
        if separates || (is_edge && character == ' ') || (at == 0 && character == '#') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use x509_parser::asn1_rs::{Any, Oid};

    const COMMON_NAME: [u64; 4] = [2, 5, 4, 3];
    const ORGANIZATION: [u64; 4] = [2, 5, 4, 10];

    fn subject(parts: &[&[([u64; 4], Tag, &str)]]) -> Option<String> {
        let rdns = parts.iter().map(|part| {
            let attributes = part.iter().map(|(kind, tag, value)| {
                AttributeTypeAndValue::new(
                    Oid::from(kind).unwrap(),
                    Any::from_tag_and_data(*tag, value.as_bytes()),
                )
            });
            RelativeDistinguishedName::new(attributes.collect())
        });
        text_of(&X509Name::new(rdns.collect(), &[]))
    }

    fn name(common: &str) -> String {
        subject(&[&[(COMMON_NAME, Tag::Utf8String, common)]]).unwrap()
    }

    #[test]
    fn a15_no_two_subjects_have_the_same_text() {
        let [ada, admins] =
            [(COMMON_NAME, Tag::Utf8String, "ada"), (ORGANIZATION, Tag::Utf8String, "Admins")];
        assert_eq!(subject(&[&[ada], &[admins]]).unwrap(), "CN=ada, O=Admins");
        assert_eq!(name("ada, O=Admins"), r"CN=ada\, O\=Admins");
        assert_eq!(subject(&[&[ada, admins]]).unwrap(), "CN=ada + O=Admins");
        assert_eq!(name("ada + O=Admins"), r"CN=ada \+ O\=Admins");
        let texts = ["616461", "#616461", " ada", "ada ", "ada\n", r"ada\0A", "a da"];
        assert_eq!(HashSet::from(texts.map(name)).len(), texts.len());
        assert_eq!(subject(&[&[(COMMON_NAME, Tag::OctetString, "ada")]]).unwrap(), "CN=#616461");
        assert_eq!(name("#616461"), r"CN=\#616461");
    }

    #[test]
    fn a15_a_certificate_without_a_readable_subject_identifies_nobody() {
        assert_eq!(subject(&[]), None);
        let unreadable = Any::from_tag_and_data(Tag::Utf8String, &[0xff, 0xfe]);
        let attribute = AttributeTypeAndValue::new(Oid::from(&COMMON_NAME).unwrap(), unreadable);
        let name = X509Name::new(vec![RelativeDistinguishedName::new(vec![attribute])], &[]);
        assert_eq!(text_of(&name), None);
    }
}
