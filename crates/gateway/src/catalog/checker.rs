//! Checker: validates the arguments of a call against the schema of its tool.
//!
//! Schema and arguments are untrusted, so the work is bounded: no reference is fetched, a schema
//! that is too large is refused before it is compiled, and a check that needs more steps than its
//! budget is refused.

use super::checker_memory::CheckerMemory;
use arc_swap::ArcSwapOption;
use serde_json::Value;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use trunkline_protocol::Raw;
use trunkline_schema::{Budget, Complaint, Schema, TooExpensive};

/// Most bytes of a schema.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// Most values in a schema.
const MAX_SCHEMA_VALUES: usize = 10_000;
/// Most bytes of arguments, unless a scan of their text proves that they fit.
pub(crate) const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;
/// Most violations in one answer, and most characters of each.
const MAX_COMPLAINTS: usize = 5;
const MAX_COMPLAINT: usize = 200;

/// A schema that cannot be used for checking.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSchema {
    #[error("the schema has {0} bytes, more than the {MAX_SCHEMA_BYTES} allowed")]
    TooLong(usize),
    #[error("the schema holds {0} values, more than the {MAX_SCHEMA_VALUES} allowed")]
    TooComplex(usize),
    #[error("the schema cannot be compiled: {0}")]
    Invalid(String),
    #[error("{0}")]
    TooExpensive(String),
}

/// The reason why arguments are not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The violations of the schema: as text, and as data.
    Unfit(String, Vec<Complaint>),
    /// The schema must be compiled, or the check needs more than its budget.
    TooExpensive,
    /// The arguments have more than [`MAX_ARGUMENT_BYTES`].
    TooLong(usize),
}

/// Validates arguments. The schema is compiled for the first call, and again after an eviction.
pub(crate) struct Checker {
    schema: Raw,
    compiled: ArcSwapOption<Schema>,
    /// True if it was used since the last eviction looked at it.
    used: AtomicBool,
}

impl Checker {
    /// Fails if the schema cannot be used. What was compiled to find that out is dropped, because
    /// most tools are never called.
    pub(crate) fn new(schema: &Raw) -> Result<Self, BadSchema> {
        compile(schema)?;
        let (compiled, used) = (ArcSwapOption::empty(), AtomicBool::new(false));
        Ok(Self { schema: schema.clone(), compiled, used })
    }

    /// Checks the arguments within the budget, without compiling the schema.
    pub(crate) fn check(&self, arguments: Option<&Raw>, budget: Budget) -> Result<(), Refusal> {
        let Some(schema) = &*self.compiled.load() else { return Err(Refusal::TooExpensive) };
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        check(schema, arguments, budget)
    }

    /// Checks the arguments, and compiles the schema first if necessary. This can take a tenth of a
    /// second.
    pub(crate) fn check_fully(
        self: &Arc<Self>,
        arguments: Option<&Raw>,
        memory: &CheckerMemory,
    ) -> Result<(), Refusal> {
        let schema = self.compiled.load_full();
        let schema = match schema {
            Some(schema) => schema,
            None => self.compile(memory).map_err(|bad| Refusal::Unfit(bad.to_string(), Vec::new()))?,
        };
        check(&schema, arguments, Budget::FULL)
    }

    fn compile(self: &Arc<Self>, memory: &CheckerMemory) -> Result<Arc<Schema>, BadSchema> {
        let compiled = compile(&self.schema).or_else(|_| {
            // The patterns of all schemas share a limit, which others may have reached.
            memory.evict_all();
            compile(&self.schema)
        });
        let compiled = Arc::new(compiled?);
        self.compiled.store(Some(Arc::clone(&compiled)));
        memory.add(self, compiled.memory());
        Ok(compiled)
    }

    /// True if it was not used since the last call of this function.
    pub(super) fn is_unused(&self) -> bool {
        !self.used.swap(false, Ordering::Relaxed)
    }

    pub(super) fn evict(&self) {
        self.compiled.store(None);
    }
}

fn compile(schema: &Raw) -> Result<Schema, BadSchema> {
    let text = schema.as_bytes();
    if text.len() > MAX_SCHEMA_BYTES {
        return Err(BadSchema::TooLong(text.len()));
    }
    // Every value but the first follows one of these bytes. Those inside strings count too: an
    // upper bound is enough.
    let values = text.iter().filter(|b| matches!(b, b',' | b'[' | b'{')).count();
    if values > MAX_SCHEMA_VALUES {
        return Err(BadSchema::TooComplex(values));
    }
    let schema: Value = schema.decode().map_err(|e| BadSchema::Invalid(e.to_string()))?;
    Schema::untrusted(&schema).map_err(|bad| {
        let reason = cut(&bad.to_string());
        if bad.is_expensive() { BadSchema::TooExpensive(reason) } else { BadSchema::Invalid(reason) }
    })
}

fn check(schema: &Schema, arguments: Option<&Raw>, budget: Budget) -> Result<(), Refusal> {
    let value: Value = match arguments {
        Some(arguments) if schema.surely_accepts(arguments.as_str()) => return Ok(()),
        Some(arguments) if arguments.as_bytes().len() > MAX_ARGUMENT_BYTES => {
            return Err(Refusal::TooLong(arguments.as_bytes().len()));
        }
        Some(arguments) => arguments.decode().map_err(|e| Refusal::Unfit(e.to_string(), Vec::new()))?,
        None => Value::Object(serde_json::Map::new()),
    };
    let errors = schema.errors(&value, budget).map_err(|TooExpensive| Refusal::TooExpensive)?;
    if errors.is_empty() {
        return Ok(());
    }
    let complaints: Vec<String> = errors
        .iter()
        .take(MAX_COMPLAINTS)
        .map(|e| {
            let (at, text) = (cut(e.instance_path().as_str()), cut(&e.to_string()));
            if at.is_empty() { text } else { format!("{at}: {text}") }
        })
        .collect();
    let data = errors.iter().take(MAX_COMPLAINTS).map(Complaint::of).collect();
    Err(Refusal::Unfit(complaints.join("\n"), data))
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_COMPLAINT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checker(schema: &str) -> Result<Arc<Checker>, BadSchema> {
        let checker = Arc::new(Checker::new(&Raw::parse(schema.to_owned()).unwrap())?);
        checker.compile(&CheckerMemory::default())?;
        Ok(checker)
    }

    fn check(checker: &Checker, arguments: Option<&str>) -> Result<(), Refusal> {
        let arguments = arguments.map(|arguments| Raw::parse(arguments.to_owned()).unwrap());
        checker.check(arguments.as_ref(), Budget::QUICK)
    }

    fn reason(refused: Result<(), Refusal>) -> String {
        match refused {
            Err(Refusal::Unfit(reason, _)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_judged_and_absent_ones_count_as_none() {
        let checker =
            checker(r#"{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}"#).unwrap();
        assert!(check(&checker, Some(r#"{"a":1}"#)).is_ok());
        assert!(reason(check(&checker, None)).contains("required"));
        let wrong = reason(check(&checker, Some(r#"{"a":"x"}"#)));
        assert!(wrong.starts_with("/a: "), "{wrong}");
    }

    #[test]
    fn j10_nothing_is_fetched_and_bounds_hold() {
        for reference in ["http://127.0.0.1:1/a", "file:///etc/passwd"] {
            let schema = format!(r#"{{"type":"object","properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            assert!(matches!(checker(&schema), Err(BadSchema::Invalid(_))), "{reference}");
        }
        let many = format!(r#"{{"anyOf":[{}]}}"#, vec!["{}"; 10_001].join(","));
        assert!(matches!(checker(&many), Err(BadSchema::TooComplex(_))));
        let cycle = checker(r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##).unwrap();
        assert!(check(&cycle, Some(r#"{"a":{"a":{}}}"#)).is_ok());
    }

    #[test]
    fn j10_an_evil_pattern_takes_linear_time() {
        let checker = checker(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#).unwrap();
        let evil = format!(r#"{{"a":"{}!"}}"#, "a".repeat(50_000));
        assert!(reason(check(&checker, Some(&evil))).starts_with("/a: "));
    }

    #[test]
    fn j13_a_schema_that_unfolds_is_refused_and_so_is_a_value_that_unfolds_one() {
        let next = |level: usize| format!(r##"{{"$ref":"#/$defs/d{level}"}}"##);
        let union = |level: usize| format!(r#""d{level}":{{"anyOf":[{0},{0},{0},{0}]}}"#, next(level + 1));
        let definitions: Vec<String> = (0..12).map(union).collect();
        let schema = format!(
            r#"{{"type":"object","properties":{{"a":{}}},"$defs":{{{},"d12":{{"type":"string"}}}}}}"#,
            next(0),
            definitions.join(",")
        );
        let bad = checker(&schema).unwrap_err();
        assert!(matches!(&bad, BadSchema::TooExpensive(reason) if reason.contains("visits")), "{bad}");
        let twice = r##"{"properties":{"a":{"$ref":"#"}},"required":["b"]}"##;
        let checker = checker(&format!(r#"{{"type":"object","anyOf":[{twice},{twice}]}}"#)).unwrap();
        let value = format!("{}1{}", r#"{"a":"#.repeat(60), "}".repeat(60));
        assert_eq!(check(&checker, Some(&value)), Err(Refusal::TooExpensive));
    }
}
