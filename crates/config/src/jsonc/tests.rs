use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> serde_json::Value {
    parse(text, 0).unwrap().to_json()
}

#[test]
fn comments_and_trailing_commas_are_allowed() {
    let text = "\u{feff}// one\n{ /* two */ \"a\": [1, 2, /* three */ ], // four\n \"b\": {\"c\": null,},\n}\n// five";
    assert_eq!(read(text), json!({"a": [1, 2], "b": {"c": null}}));
}

#[test]
fn what_looks_like_a_comment_in_a_text_is_none() {
    assert_eq!(
        read(r#"{"a": "http://h/ /* x */ // y", "b": "\"//\\"}"#),
        json!({"a": "http://h/ /* x */ // y", "b": "\"//\\"})
    );
}

#[test]
fn every_value_knows_its_place() {
    let text = "{\n  \"grüße\": [true,\n    \"x\"]\n}";
    let (node, lines) = (parse(text, 7).unwrap(), Lines::new(text));
    let at = |place: Place| lines.position(place.start as usize);
    let entry = node.entry("grüße").unwrap();
    assert_eq!(&text[entry.key_place.range()], "\"grüße\"");
    assert_eq!(at(entry.node.place), Position { line: 2, column: 12 });
    assert_eq!(at(entry.node.items()[1].place), Position { line: 3, column: 5 });
    assert_eq!((&text[entry.node.items()[0].place.range()], entry.node.place.source), ("true", 7));
    assert_eq!(lines.line(3), Some("    \"x\"]"));
}

#[test]
fn a_name_that_stands_twice_is_told_with_its_whole_key() {
    let errors = parse(r#"{"a": {"b": 1, "b": 2}, "a": 3}"#, 0).unwrap_err();
    let keys: Vec<_> =
        errors.iter().map(|error| (error.duplicate.as_deref().unwrap(), error.place.start)).collect();
    assert_eq!(keys, [("a.b", 15), ("a", 24)]);
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&nested(MAX_DEPTH), 0).is_ok());
    assert!(parse(&nested(MAX_DEPTH + 1), 0).is_err());
    assert!(parse(&nested(400_000), 0).is_err());
    assert!(parse(&" ".repeat(MAX_BYTES + 1), 0).is_err());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_filter("JSON has no such number", |f| f.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn plain_json_means_what_it_means_elsewhere(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let elsewhere: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read(&text), elsewhere);
        }
    }

    #[test]
    fn what_is_no_json_elsewhere_is_none_here(text in "[\\[\\]{}:,\"0-9a-z.+-]{0,24}") {
        let elsewhere = serde_json::from_str::<serde_json::Value>(&text);
        match parse(&text, 0) {
            Ok(node) => {
                // Apart from comments, trailing commas are the only extension to JSON.
                let strict = text.replace(",]", "]").replace(",}", "}");
                let elsewhere = elsewhere.or_else(|_| serde_json::from_str(&strict));
                prop_assert_eq!(node.to_json(), elsewhere.unwrap());
            }
            Err(errors) => {
                let twice = errors.iter().all(|error| error.duplicate.is_some());
                prop_assert!(elsewhere.is_err() || twice, "{:?}", errors);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        parse(&text, 0).map(drop).unwrap_or_default();
    }
}
