//! The engine never does more work than the meter counted, for random schemas and values.
//!
//! A custom keyword in every subschema counts the engine's visits.

use super::*;
use jsonschema::{Keyword, error::ValidationErrorKind};
use serde_json::{Map, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

const SCHEMAS: usize = 4_000;
const VALUES: usize = 8;
/// Minimum number of pairs that must cause real work, or the test proves nothing.
const LEAST_BUSY: usize = 400;
/// A pair with more visits than this causes real work.
const BUSY: u64 = 20;
const COUNTER: &str = "x-visit";
const DEFINITIONS: usize = 4;

/// A linear congruential generator, so that every run uses the same numbers.
struct Dice(u64);

struct Counter(Arc<AtomicU64>);

impl<'i> Keyword<'i> for Counter {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }

    fn name(&mut self) -> &'static str {
        ["a", "b", "c"][self.roll(3)]
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.roll(if depth == 0 { 3 } else { 8 }) {
            0 => json!(self.roll(3)),
            1 => json!("a".repeat(self.roll(4))),
            2 => json!(null),
            3 | 4 => (0..self.roll(6)).map(|_| self.value(depth - 1)).collect(),
            _ => (0..self.roll(4))
                .map(|_| (self.name().to_owned(), self.value(depth - 1)))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        if self.roll(6) == 0 {
            return json!({"$ref": format!("#/$defs/d{}", self.roll(DEFINITIONS))});
        }
        let mut schema = Map::new();
        for _ in 0..=self.roll(3) {
            let (keyword, value) = self.keyword(depth);
            schema.insert(keyword.to_owned(), value);
        }
        schema.into()
    }

    fn part(&mut self, depth: usize) -> Value {
        if depth == 0 {
            json!({"$ref": format!("#/$defs/d{}", self.roll(DEFINITIONS))})
        } else {
            self.schema(depth - 1)
        }
    }

    fn parts(&mut self, depth: usize) -> Value {
        (0..=self.roll(3)).map(|_| self.part(depth)).collect()
    }

    fn named(&mut self, depth: usize) -> Value {
        (0..=self.roll(2)).map(|_| (self.name().to_owned(), self.part(depth))).collect::<Map<_, _>>().into()
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Value) {
        match self.roll(24) {
            0 | 1 => ("anyOf", self.parts(depth)),
            2 => ("oneOf", self.parts(depth)),
            3 => ("allOf", self.parts(depth)),
            4 => ("not", self.part(depth)),
            5 => ("if", self.part(depth)),
            6 => ("then", self.part(depth)),
            7 => ("else", self.part(depth)),
            8 => ("dependentSchemas", self.named(depth)),
            9..=11 => ("properties", self.named(depth)),
            12 => ("patternProperties", self.named(depth)),
            13 => ("additionalProperties", self.part(depth)),
            14 => ("unevaluatedProperties", [self.part(depth), json!(false)][self.roll(2)].clone()),
            15 => ("propertyNames", self.part(depth)),
            16 => ("prefixItems", self.parts(depth)),
            17 => ("items", self.part(depth)),
            18 => ("contains", self.part(depth)),
            19 => ("unevaluatedItems", [self.part(depth), json!(false)][self.roll(2)].clone()),
            20 => ("type", json!(["object", "array", "string"][self.roll(3)])),
            21 => ("uniqueItems", json!(true)),
            22 => ("enum", (0..=self.roll(3)).map(|_| self.value(1)).collect()),
            _ => ("required", json!([self.name()])),
        }
    }

    fn root(&mut self) -> Value {
        let mut root = self.schema(2);
        let definitions = (0..DEFINITIONS).map(|number| (format!("d{number}"), self.schema(1)));
        root["$defs"] = definitions.collect::<Map<_, _>>().into();
        root
    }
}

/// The schema with the counting keyword added to each subschema.
fn counted(schema: &Value) -> Value {
    let inside = |value: &Value| match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), counted(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    };
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut counting = Map::new();
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", map) => inside(map),
            ("enum" | "type" | "required", value) => value.clone(),
            (_, Value::Array(schemas)) => schemas.iter().map(counted).collect(),
            (_, value) => counted(value),
        };
        counting.insert(keyword.clone(), value);
    }
    counting.insert(COUNTER.to_owned(), json!(true));
    counting.into()
}

fn engine(schema: &Value, visits: &Arc<AtomicU64>) -> Option<Validator> {
    let visits = visits.clone();
    let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
    let options = options.with_keyword(COUNTER, move |_, _, _| Ok(Box::new(Counter(visits.clone()))));
    options.build(&counted(schema)).ok()
}

/// The memory of errors, including nested errors and the bytes of their pointers.
fn memory(errors: &[ValidationError<'_>]) -> u64 {
    let inside = |error: &ValidationError<'_>| match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.iter().map(|branch| memory(branch)).sum()
        }
        _ => 0,
    };
    errors.iter().map(|error| 200 + error.instance_path().as_str().len() as u64 + inside(error)).sum()
}

#[test]
fn j13_the_engine_does_not_do_more_than_was_counted() {
    let (mut dice, mut busy, mut judged) = (Dice(7), 0, 0);
    for _ in 0..SCHEMAS {
        let schema = dice.root();
        let Ok(graph) = Graph::new(&schema) else { continue };
        let Ok(cost) = judge::judge(&graph) else { continue };
        let visits = Arc::new(AtomicU64::new(0));
        let Some(validator) = engine(&schema, &visits) else { continue };
        judged += 1;
        for _ in 0..VALUES {
            let value = dice.value(4);
            let whole = (&graph, &cost.patterns);
            let Ok(cost) = meter::validity(whole, &value, Budget::FULL) else { continue };
            visits.store(0, Ordering::Relaxed);
            let fits = validator.is_valid(&value);
            let done = visits.swap(0, Ordering::Relaxed);
            assert!(done <= cost.steps, "{done} > {}: {schema} {value}", cost.steps);
            let Ok(cost) = meter::errors(whole, &value, Budget::FULL) else { continue };
            let errors: Vec<_> = validator.iter_errors(&value).collect();
            let done = visits.load(Ordering::Relaxed);
            assert!(done <= cost.steps, "errors: {done} > {}: {schema} {value}", cost.steps);
            assert!(memory(&errors) <= cost.bytes, "{} > {}: {schema} {value}", memory(&errors), cost.bytes);
            assert_eq!(fits, errors.is_empty(), "{schema} {value}");
            busy += usize::from(done > BUSY);
        }
    }
    assert!(judged > SCHEMAS / 4 && busy > LEAST_BUSY, "{judged} schemas, {busy} busy pairs");
}
