//! Schemas and values that fit, do not fit, or cost too much.

use super::*;
use serde_json::json;

fn accepts(schema: &Schema, value: &Value) -> bool {
    schema.accepts(value, Budget::FULL).unwrap()
}

#[test]
fn a_value_fits_or_is_complained_of() {
    let schema = Schema::untrusted(&json!({"type": "object", "required": ["a"]})).unwrap();
    assert!(accepts(&schema, &json!({"a": 1})));
    let value = json!({});
    let errors = schema.errors(&value, Budget::FULL).unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn a_plain_schema_wakes_the_engine_for_what_is_not_sure_to_fit() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let schema = Schema::untrusted(&schema).unwrap();
    assert!(schema.surely_accepts(r#"{"a":1}"#));
    let Form::Plain { compiled, .. } = &schema.form else { panic!("it is plain") };
    assert!(compiled.get().is_none());
    assert!(!schema.surely_accepts(r#"{"a":1.0}"#) && accepts(&schema, &json!({"a": 1.0})));
    assert_eq!(schema.errors(&json!({"a": "x"}), Budget::FULL).unwrap().len(), 1);
}

#[test]
fn nothing_is_fetched() {
    for reference in ["http://127.0.0.1:1/a", "file:///etc/passwd"] {
        let schema = json!({"$ref": reference});
        assert!(Schema::untrusted(&schema).is_err(), "{reference}");
        assert!(Schema::of_its_draft(&schema).is_err(), "{reference}");
    }
}

#[test]
fn patterns_of_strangers_have_no_memory_and_bounds() {
    assert!(Schema::untrusted(&json!({"pattern": r"(a)\1"})).is_err());
    assert!(Schema::untrusted(&json!({"pattern": "((a{100}){100}){100}"})).is_err());
    assert!(Schema::of_its_draft(&json!({"pattern": r"(a)\1"})).is_ok());
}

#[test]
fn a_pattern_that_needs_backtracking_is_left_out_and_the_rest_is_checked() {
    let schema = json!({"properties": {"a": {"type": "string", "pattern": "^(?!x)(a+)+$"}}});
    let schema = Schema::of_its_draft(&schema).unwrap();
    assert!(accepts(&schema, &json!({"a": "x"})) && !accepts(&schema, &json!({"a": 1})));
    assert!(Schema::of_its_draft(&json!({"pattern": "("})).is_err(), "not a valid regular expression");
}

#[test]
fn the_draft_is_the_one_that_is_named() {
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
    let schema = Schema::of_its_draft(&old).unwrap();
    assert!(!accepts(&schema, &json!([1])));
    assert!(Schema::of_its_draft(&json!({"items": [{"type": "string"}]})).is_err());
}

/// A schema with `$defs` d0 … dN, each a union of references to the next.
fn unfolding(levels: usize, keyword: &str, width: usize) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({keyword: vec![next; width]}));
    }
    definitions.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"type": "object", "$defs": definitions, "$ref": "#/$defs/d0"})
}

/// Every schema here would cost the engine gigabytes, minutes or a stack overflow if it were
/// compiled and used.
#[test]
fn j13_schemas_that_unfold_are_refused_before_they_are_compiled() {
    let chain = |length: usize| {
        let links = (0..length).map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)})));
        let definitions: serde_json::Map<_, _> = links.chain([(format!("d{length}"), json!({}))]).collect();
        json!({"$defs": definitions, "$ref": "#/$defs/d0"})
    };
    let nested = (0..40).fold(
        json!({"type": "string"}),
        |inner, _| json!({"allOf": [inner], "unevaluatedProperties": {"type": "string"}}),
    );
    let name = "n".repeat(100_000);
    let members: serde_json::Map<_, _> = (0..5_000).map(|at| (format!("{at}"), json!({}))).collect();
    let patterns: Vec<Value> = (0..2_000).map(|at| json!({"pattern": format!(".{{1,900}}{at}")})).collect();
    for (schema, why) in [
        (unfolding(12, "anyOf", 4), "visits"),
        (unfolding(25, "oneOf", 2), "visits"),
        (unfolding(25, "allOf", 2), "visits"),
        (unfolding(40, "anyOf", 2), "chain"),
        (unfolding(13, "prefixItems", 4), ""),
        (json!({"anyOf": vec![json!({"anyOf": vec![json!({"type": "string"}); 99]}); 99]}), "visits"),
        (json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}, "$ref": "#/$defs/a"}), "to itself"),
        (chain(5_000), "chain"),
        (nested, "visits"),
        (json!({"properties": {name: {"properties": members}}}), "pointers"),
        (json!({"anyOf": patterns}), "patterns"),
        (json!({"pattern": "(.{1,300}){1,300}"}), "memory"),
        (json!({"$dynamicRef": "#x"}), "depends on the value"),
        (json!({"description": "x".repeat(300_000)}), "bytes"),
        (json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}), "no unique target"),
    ] {
        let bad = judge(&schema);
        match why {
            "" => assert_eq!(bad, Ok(()), "{:.200}", schema.to_string()),
            why => assert!(
                bad.as_ref().is_err_and(|bad| bad.to_string().contains(why)),
                "{bad:?}: {:.200}",
                schema.to_string()
            ),
        }
        let made = [Schema::untrusted(&schema), Schema::of_its_draft(&schema)];
        assert!(
            made.iter().all(|made| made.is_err() != why.is_empty()),
            "{made:?}: {:.200}",
            schema.to_string()
        );
    }
}

#[test]
fn j13_values_that_unfold_a_cheap_schema_are_refused_before_they_are_checked() {
    let twice = json!({"$ref": "#"});
    let deep = |levels: usize| (0..levels).fold(json!({"b": 1}), |inner, _| json!({"a": inner}));
    let text = "ab".repeat(100_000);
    for (schema, value) in [
        (json!({"anyOf": vec![json!({"properties": {"a": twice}, "required": ["c"]}); 4]}), deep(30)),
        (json!({"properties": {"a": twice}, "patternProperties": {"a": twice, "^a": twice}}), deep(30)),
        (json!({"allOf": [{"properties": {"a": twice}}], "unevaluatedProperties": {"$ref": "#"}}), deep(100)),
        (json!({"pattern": "[ab]*a[ab]{900}c"}), json!(text)),
        (json!({"uniqueItems": true}), (0..600_000).collect()),
        (json!({"items": {"enum": (0..9_000).collect::<Vec<_>>()}}), vec![json!("x"); 9_000].into()),
    ] {
        let schema = Schema::untrusted(&schema).unwrap();
        assert_eq!(schema.accepts(&value, Budget::FULL), Err(TooExpensive), "{:.100}", value.to_string());
        assert!(schema.errors(&value, Budget::FULL).is_err());
    }
}

#[test]
fn j13_errors_that_would_take_too_much_memory_are_one_error() {
    let name = "n".repeat(900_000);
    let items = vec![json!(1); 20_000];
    let schema =
        json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}});
    for schema in [schema.clone(), json!({"allOf": [schema]})] {
        let schema = Schema::untrusted(&schema).unwrap();
        let value = json!({&name: items});
        let errors = schema.errors(&value, Budget::FULL).unwrap();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].to_string(), "there are too many errors to list them");
    }
}

#[test]
fn ordinary_schemas_are_cheap_enough() {
    let node = json!({"type": "object", "required": ["op"], "properties": {
        "op": {"enum": ["and", "or", "not", "eq"]},
        "of": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,62}$"},
        "value": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string", "format": "uuid"}}]}
    }, "additionalProperties": false});
    let schema = json!({"type": "object", "$defs": {"node": {"oneOf": [node, {"type": "boolean"}]}},
        "properties": {"filter": {"$ref": "#/$defs/node"}}, "unevaluatedProperties": false});
    let schema = Schema::untrusted(&schema).unwrap();
    let leaf = json!({"op": "eq", "name": "size", "value": ["a", "b"]});
    let value = (0..8).fold(leaf, |inner, _| json!({"op": "and", "of": [inner, true]}));
    assert_eq!(schema.accepts(&json!({"filter": value}), Budget::QUICK), Ok(true));
    let tree =
        json!({"properties": {"children": {"type": "array", "items": {"$ref": "tree"}}}, "$id": "tree"});
    let schema = Schema::of_its_draft(&json!({"type": "object", "properties": {"root": tree}})).unwrap();
    assert_eq!(schema.accepts(&json!({"root": {"children": [{"children": 1}]}}), Budget::QUICK), Ok(false));
    let anchors = json!({"$defs": {"a b": {"$anchor": "x", "type": "string"}}, "allOf": [{"$ref": "#x"}, {"$ref": "#/$defs/a%20b"}]});
    assert_eq!(Schema::of_its_draft(&anchors).unwrap().accepts(&json!(1), Budget::QUICK), Ok(false));
}

/// Identifiers and anchors with which a reference could resolve to an unexpected target.
#[test]
fn j13_references_that_could_lead_elsewhere_are_refused() {
    let costly = unfolding(12, "anyOf", 4)["$defs"].clone();
    let cheap = json!({"d0": {}});
    for schema in [
        json!({"$defs": costly, "x": {"$id": "q", "s": {"$ref": "#/$defs/d0"}, "$defs": cheap}, "$ref": "#/x/s"}),
        json!({"$defs": costly, "x": {"$id": "q", "$ref": "#/$defs/d0", "$defs": cheap}, "$ref": "#/x"}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "definitions": costly,
            "properties": {"a": {"$id": "q", "not": {"$ref": "#/definitions/d0"}, "definitions": cheap}}}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "definitions": cheap,
            "properties": {"a": {"id": "q", "not": {"$ref": "#/definitions/d0"}, "definitions": costly}}}),
        json!({"$defs": {"a": {"$anchor": "k", "$ref": "#/$defs/d0"}, "d0": costly["d0"]}, "default": {"$anchor": "k"}, "$ref": "#k"}),
        json!({"$defs": {"a": {"$id": "http://a/x"}, "b": {"$id": "http://b/x"}}, "$ref": "x"}),
        json!({"$id": "http://b/root", "$defs": {"decoy": {"$id": "http://a/./z", "$defs": cheap},
            "real": {"$id": "http://b/z", "$defs": costly}}, "$ref": "./z#/$defs/d0"}),
    ] {
        let bad = judge(&schema);
        assert!(matches!(bad, Err(BadSchema::Unsupported(_))), "{bad:?}: {:.300}", schema.to_string());
    }
}

/// The deepest validation that is allowed, on a stack as small as that of a runtime thread.
#[test]
fn j13_the_deepest_check_fits_the_stack() {
    let chain: serde_json::Map<_, _> = (0..25)
        .map(|at| (format!("d{at}"), json!({"anyOf": [{"$ref": format!("#/$defs/d{}", at + 1)}]})))
        .chain([("d25".to_owned(), json!({"items": {"$ref": "#/$defs/d0"}, "type": "array"}))])
        .collect();
    let schema = json!({"$defs": chain, "$ref": "#/$defs/d15"});
    let long: serde_json::Map<_, _> = (0..2_000)
        .map(|at| (format!("d{at}"), json!({"items": {"$ref": format!("#/$defs/d{}", at + 1)}})))
        .chain([("d2000".to_owned(), json!({}))])
        .collect();
    let long = json!({"$defs": long, "$ref": "#/$defs/d0"});
    let checks = move || {
        drop(Schema::untrusted(&long).unwrap());
        let schema = Schema::untrusted(&schema).unwrap();
        let mut allowed = 0;
        for levels in 0..120 {
            let value = (0..levels).fold(json!(1), |inner, _| json!([inner]));
            allowed += usize::from(schema.errors(&value, Budget::FULL).is_ok());
        }
        allowed
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(checks).unwrap();
    let allowed = thread.join().unwrap();
    assert!((3..120).contains(&allowed), "{allowed}");
}

#[test]
fn j13_an_expensive_schema_is_not_held_against_the_meta_schema() {
    let mut schema = unfolding(12, "anyOf", 4);
    schema["type"] = json!(5);
    assert!(judge(&schema).is_err() && meta_error(&schema).is_none());
    assert!(meta_error(&json!({"type": 5})).is_some());
}
