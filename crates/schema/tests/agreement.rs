//! A value that passes the quick check is also accepted by the engine, for random schemas and
//! values.

use serde_json::{Map, Value, json};
use trunkline_schema::{Budget, Schema};

const SCHEMAS: usize = 10_000;
const VALUES: usize = 12;
/// Minimum number of pairs that must pass the quick check, or the test proves nothing.
const LEAST_SURE: usize = 8000;

/// A linear congruential generator, so that every run uses the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())].clone()
    }

    fn name(&mut self) -> &'static str {
        self.of(&["a", "b", "c"])
    }
}

fn scalar(dice: &mut Dice) -> Value {
    dice.of(&[
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(3),
        json!(2.5),
        json!(1.0),
        json!("a"),
        json!("bc"),
    ])
}

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 2 } else { 6 }) {
        0 | 1 => scalar(dice),
        2 | 3 => (0..dice.roll(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => {
            let members = (0..dice.roll(4)).map(|_| (dice.name().to_owned(), value(dice, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

fn schema(dice: &mut Dice, depth: usize) -> Value {
    let mut schema = Map::new();
    for _ in 0..dice.roll(4) {
        let (keyword, value) = keyword(dice, depth);
        schema.insert(keyword.to_owned(), value);
    }
    Value::Object(schema)
}

/// A choice for `anyOf`, usually a schema for one type.
fn typed(dice: &mut Dice, depth: usize) -> Value {
    let said = [
        json!({"type": "null"}),
        json!({"type": "integer", "minimum": 3}),
        json!({"type": "number", "maximum": 0}),
        json!({"type": "string", "maxLength": 1}),
        json!({"type": "array", "items": {"type": "integer"}}),
        json!({"type": "object", "properties": {"a": {}, "b": {"type": "integer"}}, "required": ["a"]}),
    ];
    if dice.roll(3) == 0 && depth > 0 { schema(dice, depth - 1) } else { dice.of(&said) }
}

fn keyword(dice: &mut Dice, depth: usize) -> (&'static str, Value) {
    let kinds = ["null", "boolean", "number", "integer", "string", "array", "object"];
    let nested = |dice: &mut Dice| if depth == 0 { json!(true) } else { schema(dice, depth - 1) };
    match dice.roll(24) {
        0..=3 => ("type", json!(dice.of(&kinds))),
        4 => ("type", json!([dice.of(&kinds), dice.of(&kinds)])),
        5 => ("minimum", json!(dice.of(&[-1, 0, 3]))),
        6 => ("exclusiveMaximum", dice.of(&[json!(2.5), json!(3)])),
        7 => ("maxLength", json!(dice.roll(3))),
        8 => ("minItems", json!(dice.roll(3))),
        9 => ("enum", (0..=dice.roll(3)).map(|_| scalar(dice)).collect()),
        10 => ("const", scalar(dice)),
        11 | 12 => ("items", nested(dice)),
        13..=15 => (
            "properties",
            Value::Object((0..dice.roll(3)).map(|_| (dice.name().to_owned(), nested(dice))).collect()),
        ),
        16 => ("required", json!([dice.name()])),
        17 => ("additionalProperties", dice.of(&[json!(false), json!(true), json!({"type": "integer"})])),
        18 | 22 | 23 => ("anyOf", (0..=dice.roll(2)).map(|_| typed(dice, depth)).collect()),
        19 => ("format", json!("email")),
        20 => ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        _ => dice.of(&[
            ("uniqueItems", json!(true)),
            ("not", json!({"type": "string"})),
            ("allOf", json!([{"maximum": 1}])),
            ("pattern", json!("^a")),
            ("minProperties", json!(1)),
            ("title", json!("t")),
        ]),
    }
}

#[test]
fn who_is_sure_is_right() {
    let mut dice = Dice(1);
    let mut sure = 0;
    for _ in 0..SCHEMAS {
        let written = schema(&mut dice, 2);
        let Ok(schema) = Schema::untrusted(&written) else { continue };
        for _ in 0..VALUES {
            let value = value(&mut dice, 2);
            if schema.surely_accepts(&value.to_string()) {
                sure += 1;
                assert_eq!(schema.accepts(&value, Budget::FULL), Ok(true), "{written} {value}");
            }
        }
    }
    assert!(sure > LEAST_SURE, "{sure}");
}
