//! Schemas and values that fit, do not fit, or cost too much.

use super::*;
use serde_json::json;

fn accepts(schema: &Schema, value: &Value) -> bool {
    schema.accepts(value, Budget::FULL).unwrap()
}

#[test]
fn a_value_fits_or_is_complained_of() {
    let schema = Schema::of_stranger(&json!({"type": "object", "required": ["a"]})).unwrap();
    assert!(accepts(&schema, &json!({"a": 1})));
    let value = json!({});
    let errors = schema.errors(&value, Budget::FULL).unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn a_plain_schema_wakes_the_engine_for_what_is_not_sure_to_fit() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let schema = Schema::of_stranger(&schema).unwrap();
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
        assert!(Schema::of_stranger(&schema).is_err(), "{reference}");
        assert!(Schema::of_its_draft(&schema).is_err(), "{reference}");
    }
}

#[test]
fn patterns_of_strangers_have_no_memory_and_bounds() {
    assert!(Schema::of_stranger(&json!({"pattern": r"(a)\1"})).is_err());
    assert!(Schema::of_stranger(&json!({"pattern": "((a{100}){100}){100}"})).is_err());
    assert!(Schema::of_its_draft(&json!({"pattern": r"(a)\1"})).is_ok());
}

#[test]
fn a_pattern_that_needs_backtracking_is_left_out_and_the_rest_is_checked() {
    let schema = json!({"properties": {"a": {"type": "string", "pattern": "^(?!x)(a+)+$"}}});
    let schema = Schema::of_its_draft(&schema).unwrap();
    assert!(accepts(&schema, &json!({"a": "x"})) && !accepts(&schema, &json!({"a": 1})));
    assert!(Schema::of_its_draft(&json!({"pattern": "("})).is_err(), "no regular expression at all");
}

#[test]
fn the_draft_is_the_one_that_is_named() {
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
    let schema = Schema::of_its_draft(&old).unwrap();
    assert!(!accepts(&schema, &json!([1])));
    assert!(Schema::of_its_draft(&json!({"items": [{"type": "string"}]})).is_err());
}
