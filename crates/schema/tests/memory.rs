//! The memory of a compiled schema stays within its estimate.

use cap::Cap;
use serde_json::{Map, Value, json};
use std::alloc::System;
use trunkline_schema::{Budget, Schema};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

fn members(many: usize, schema: &Value) -> Map<String, Value> {
    (0..many).map(|number| (format!("m{number}"), schema.clone())).collect()
}

fn nested(levels: usize, inner: Value) -> Value {
    (0..levels).fold(inner, |inner, _| json!({"type": "object", "properties": {"nested-member": inner}}))
}

fn shapes() -> Vec<(&'static str, Value)> {
    let object = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    let many = |schema: Value| json!({"type": "object", "properties": members(4_000, &schema)});
    let rich = json!({"type": "string", "minLength": 1, "maxLength": 9, "title": "t", "enum": ["a", "b"]});
    let union = |schema: Value| object(json!({"anyOf": vec![schema; 3_000]}));
    let patterns: Map<_, _> =
        (0..100).map(|number| (format!("p{number}"), json!({"pattern": format!("^a{number}$")}))).collect();
    let wide = json!({"allOf": vec![json!({"properties": members(40, &json!({"type": "string"}))}); 5], "unevaluatedProperties": false});
    vec![
        ("small", object(json!({"type": "string"}))),
        ("small, not plain", object(json!({"type": "string", "format": "date"}))),
        ("plain members", many(json!({"type": "string"}))),
        ("rich members", json!({"type": "object", "properties": members(2_000, &rich)})),
        ("true members", many(json!(true))),
        ("choices", object(json!({"enum": (0..9_000).collect::<Vec<_>>()}))),
        ("texts", object(json!({"enum": (0..9_000).map(|n| format!("text {n}")).collect::<Vec<_>>()}))),
        ("union", union(json!({"type": "string", "minLength": 2}))),
        ("empty union", union(json!({}))),
        (
            "required",
            json!({"type": "object", "required": (0..9_000).map(|n| format!("text {n}")).collect::<Vec<_>>()}),
        ),
        (
            "one of",
            object(
                json!({"oneOf": vec![json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}); 1_500]}),
            ),
        ),
        ("deep", nested(50, json!({"properties": members(900, &json!({"minimum": 1}))}))),
        ("patterns", json!({"type": "object", "properties": patterns})),
        ("large pattern", object(json!({"pattern": "^.{1,250}$"}))),
        ("copies", wide),
        (
            "references",
            json!({"type": "object", "properties": members(2_000, &json!({"$ref": "#/$defs/x"})), "$defs": {"x": {"type": "integer", "minimum": 3}}}),
        ),
    ]
}

#[test]
fn j13_no_schema_takes_more_memory_than_estimated() {
    // The engine's own data, once per process.
    let first = Schema::untrusted(&json!({"format": "date"})).unwrap();
    assert!(first.accepts(&json!("x"), Budget::FULL).is_ok());
    for (name, schema) in shapes() {
        let text = schema.to_string().len();
        let (empty, wrong) = (json!({}), json!({"a": 7, "m1": {}}));
        let before = ALLOCATOR.allocated();
        let compiled = Schema::untrusted(&schema).unwrap();
        let once = ALLOCATOR.allocated() - before;
        for value in [&empty, &wrong] {
            compiled.accepts(value, Budget::FULL).unwrap();
        }
        let taken = ALLOCATOR.allocated() - before;
        println!("{name}: text {text}, {once}, then {taken}, estimated {}", compiled.memory());
        assert!(taken as u64 <= compiled.memory(), "{name}: {taken} > {}", compiled.memory());
    }
}
