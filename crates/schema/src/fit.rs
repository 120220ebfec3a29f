//! Checks text against a plain schema while parsing it, without building a value.

use super::plain::{Fields, Others, Plain};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

impl Plain {
    /// True if the text certainly fits. If false, the text may still fit.
    pub(super) fn surely_fits(&self, text: &str) -> bool {
        let mut reader = serde_json::Deserializer::from_str(text);
        Fit(self).deserialize(&mut reader).and_then(|()| reader.end()).is_ok()
    }
}

/// Reads a value and fails at the first part that does not certainly fit.
struct Fit<'a>(&'a Plain);

/// Reads a member name and returns the index of its property.
struct Name<'a>(&'a Fields);

fn unsure<E: Error>() -> E {
    E::custom("not sure to fit")
}

fn when<E: Error>(fits: bool) -> Result<(), E> {
    if fits { Ok(()) } else { Err(unsure()) }
}

impl<'de> DeserializeSeed<'de> for Fit<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fit<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that fits")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        when(self.0.null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        when(self.0.boolean)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        when(self.0.number.as_ref().is_some_and(|number| number.holds_whole(value, 1.0)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        let sign = if value < 0 { -1.0 } else { 1.0 };
        when(self.0.number.as_ref().is_some_and(|number| number.holds_whole(value.unsigned_abs(), sign)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        // The engine decides if `1.0` is an integer.
        let number = self.0.number.as_ref().filter(|number| !number.whole);
        when(number.is_some_and(|number| number.range.holds(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let Some(text) = &self.0.text else { return Err(unsure()) };
        let chosen =
            text.choices.as_ref().is_none_or(|texts| texts.iter().any(|text| text.as_ref() == value));
        when(chosen && text.length.holds_count(|| value.chars().count()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Some(list) = &self.0.list else { return Err(unsure()) };
        let mut count = 0;
        loop {
            let read = match &list.items {
                Some(items) => values.next_element_seed(Fit(items))?,
                None => values.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            match read {
                Some(()) => count += 1,
                None => return when(list.length.holds_count(|| count)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Some(object) = &self.0.object else { return Err(unsure()) };
        let mut found = 0;
        while let Some(place) = members.next_key_seed(Name(object))? {
            match (place.and_then(|place| object.named.get(place)), &object.others) {
                (Some(field), _) => {
                    members.next_value_seed(Fit(&field.value))?;
                    found |= field.bit;
                }
                (None, Others::Fitting(others)) => members.next_value_seed(Fit(others))?,
                (None, Others::Allowed) => members.next_value::<IgnoredAny>().map(|_| ())?,
                (None, Others::Forbidden) => return Err(unsure()),
            }
        }
        when(found == object.required)
    }
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.named.iter().position(|field| field.name.as_ref() == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use serde_json::Value;

    /// A schema, texts that certainly fit, and texts that are left to the engine.
    type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

    const CASES: [Case; 13] = [
        (
            r#"{"type":"object","title":"t","required":["text"],"additionalProperties":false,"properties":
                {"text":{"type":"string"},"n":{"type":"integer"},"on":{"type":"boolean"}}}"#,
            &[
                r#"{"text":"a"}"#,
                r#"{"n":-7,"text":"\u00e4","on":false}"#,
                r#"{ "t\u0065xt" : "\ud83d\ude00" , "n" : 0 }"#,
            ],
            &[
                "{}",
                "[]",
                r#"{"text":1}"#,
                r#"{"text":null}"#,
                r#"{"text":"a","n":1.0}"#,
                r#"{"text":"a","n":12345678901234567890}"#,
                r#"{"text":"a","on":"true"}"#,
                r#"{"text":"a","other":1}"#,
                r#"{"n":1,"n":2}"#,
                r#"{"text":"a"} x"#,
            ],
        ),
        (
            r#"{"type":"number","minimum":-1,"exclusiveMaximum":2.5}"#,
            &["-1", "-1.0", "2.49", "0", "1e0"],
            &["-2", "2.5", "1e400", "9007199254740993", r#""1""#],
        ),
        (r#"{"exclusiveMinimum":0,"maximum":9}"#, &["9", "0.1", r#""a""#, "null"], &["0", "10"]),
        (r#"{"type":"integer"}"#, &["9007199254740992", "-5"], &["9007199254740993", "1e3", "2.0"]),
        (
            r#"{"type":"string","minLength":1,"maxLength":2}"#,
            &[r#""ä""#, r#""\u00e4ö""#],
            &[r#""""#, r#""abc""#, "1"],
        ),
        (r#"{"enum":["a","b",null]}"#, &[r#""a""#, "null"], &[r#""c""#, "1", "[]"]),
        (r#"{"type":["string","null"],"enum":["a"]}"#, &[r#""a""#], &["null"]),
        (r#"{"const":"a"}"#, &[r#""a""#], &[r#""b""#, "{}"]),
        (
            r#"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"integer"}}"#,
            &["[1]", "[1,2]"],
            &["[]", "[1,2,3]", r#"["a"]"#, "{}"],
        ),
        (r#"{"type":"array"}"#, &["[]", r#"[1,{"a":[]}]"#], &["{}"]),
        (
            r#"{"anyOf":[{"type":"string","maxLength":1},{"type":"null"}],"default":null}"#,
            &["null", r#""a""#],
            &[r#""ab""#, "1"],
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}"#,
            &["{}", r#"{"a":["b"],"c":[]}"#],
            &[r#"{"a":"b"}"#, r#"{"a":[1]}"#],
        ),
        (r#"{"properties":{"a":true,"b":{}}}"#, &[r#"{"a":{"x":[null]},"b":1,"c":2}"#, "7"], &[]),
    ];

    fn both(schema: &str) -> (Plain, jsonschema::Validator) {
        let schema: Value = serde_json::from_str(schema).unwrap();
        (Plain::new(&schema).unwrap(), engine::compile(&schema, engine::Reading::Newest).unwrap())
    }

    #[test]
    fn what_is_sure_to_fit_fits() {
        for (schema, good, left) in CASES {
            let (plain, engine) = both(schema);
            for good in good {
                assert!(plain.surely_fits(good), "{schema} {good}");
                assert!(engine.is_valid(&serde_json::from_str(good).unwrap()), "{schema} {good}");
            }
            for left in left {
                assert!(!plain.surely_fits(left), "{schema} {left}");
            }
        }
    }

    #[test]
    fn every_text_held_against_every_schema_is_never_surer_than_the_engine() {
        let texts: Vec<&str> = CASES.iter().flat_map(|(_, good, left)| [*good, *left].concat()).collect();
        let mut sure = 0;
        for (schema, _, _) in CASES {
            let (plain, engine) = both(schema);
            for text in &texts {
                let Ok(value) = serde_json::from_str(text) else { continue };
                let fits = plain.surely_fits(text);
                sure += usize::from(fits);
                assert!(!fits || engine.is_valid(&value), "{schema} {text}");
            }
        }
        assert!(sure > 60, "{sure} is too few to tell anything");
    }
}
