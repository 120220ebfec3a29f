//! Judge: refuses schemas that are too expensive for any value, before the engine compiles them.

use crate::{
    graph::{Graph, Id, Unsupported},
    limits::{
        MAX_ALL_PATTERN_BYTES, MAX_BRANCHES, MAX_CHAIN, MAX_COMPILED, MAX_EMBEDDED, MAX_PATTERN_BYTES,
        MAX_PATTERN_TEXT, MAX_PATTERNS, MAX_POINTER_BYTES, MAX_SCHEMA_BYTES, MAX_SUBSCHEMAS,
    },
    memory,
    patterns::{BadPattern, Patterns},
};

/// The reason for which a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    #[error("the schema has {0} bytes, more than the {MAX_SCHEMA_BYTES} allowed")]
    TooLong(usize),
    #[error("the schema has more than the {MAX_SUBSCHEMAS} subschemas allowed")]
    TooMany,
    #[error("the schema is too expensive: one value can need more than {MAX_BRANCHES} visits to subschemas")]
    TooBranched,
    #[error("the schema is too expensive: more than {MAX_CHAIN} subschemas apply to one value in a chain")]
    TooChained,
    #[error("the schema is too expensive: a subschema refers to itself for the same value, which never ends")]
    Endless,
    #[error(
        "the schema is too expensive: `unevaluatedProperties` or `unevaluatedItems` applies to too many subschemas"
    )]
    TooManyCopies,
    #[error(
        "the schema is too expensive: the JSON pointers to its keywords take more than {MAX_POINTER_BYTES} bytes"
    )]
    LongNames,
    #[error("the schema has more than {MAX_EMBEDDED} subschemas with an `$id`")]
    TooManyIds,
    #[error(
        "the schema has more than {MAX_PATTERNS} patterns, or more than {MAX_PATTERN_TEXT} bytes in them"
    )]
    TooManyPatterns,
    #[error(
        "the schema is too expensive: its patterns take more than {MAX_PATTERN_BYTES} bytes of memory, including `{0}`"
    )]
    LargePattern(String),
    #[error(
        "the schema is too expensive: the patterns of all schemas take more than {MAX_ALL_PATTERN_BYTES} bytes of memory"
    )]
    NoRoom,
    #[error("the pattern `{0}` is not a valid regular expression, or needs backtracking")]
    Pattern(String),
    #[error("the schema cannot be checked: {0}")]
    Unsupported(#[from] Unsupported),
    #[error("{0}")]
    Invalid(String),
}

impl BadSchema {
    /// True if the schema is refused for its cost; it may be valid.
    pub fn is_expensive(&self) -> bool {
        !matches!(self, Self::Pattern(_) | Self::Unsupported(_) | Self::Invalid(_))
    }
}

/// Number of visits that one value causes in a subschema and in all subschemas that apply to the
/// same value.
#[derive(Debug, Clone, Copy, Default)]
struct Visits {
    /// Visits to decide if the value is valid.
    valid: u64,
    /// Visits to find the evaluated members and items, for `unevaluatedProperties` and
    /// `unevaluatedItems`.
    mark: u64,
    /// Visits to collect errors: a union is validated first, and then collects the errors of its
    /// branches.
    collect: u64,
    chain: u32,
}

#[derive(Clone, Copy)]
enum State {
    New,
    /// Its subschemas are being visited; reaching it again means a cycle.
    Entered,
    Done(Visits),
}

/// A schema that may be compiled.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) patterns: Patterns,
    /// Estimated memory of the compiled schema, in bytes.
    pub(crate) memory: u64,
}

/// Refuses a schema that is too expensive; otherwise returns the sizes of its patterns and its
/// memory.
pub(crate) fn judge(graph: &Graph) -> Result<Judged, BadSchema> {
    if graph.nodes.len() > MAX_SUBSCHEMAS {
        return Err(BadSchema::TooMany);
    }
    if graph.pointer_bytes > MAX_POINTER_BYTES {
        return Err(BadSchema::LongNames);
    }
    if graph.embedded > MAX_EMBEDDED {
        return Err(BadSchema::TooManyIds);
    }
    let compiled = branches(graph)?;
    let patterns = Patterns::new(&graph.patterns).map_err(|bad| match bad {
        BadPattern::TooMany => BadSchema::TooManyPatterns,
        BadPattern::NoRoom => BadSchema::NoRoom,
        BadPattern::TooLarge(pattern) => BadSchema::LargePattern(pattern),
        BadPattern::NotLinear(pattern) => BadSchema::Pattern(pattern),
    })?;
    let memory = memory::estimate(graph, compiled, &patterns);
    Ok(Judged { patterns, memory })
}

/// The number of subschemas that the engine compiles, counting repeated compilations.
fn branches(graph: &Graph) -> Result<u64, BadSchema> {
    let mut states = vec![State::New; graph.nodes.len()];
    let subschemas = graph.nodes.len() as u64;
    // The engine compiles the target of a reference between resources once per path that leads to
    // it.
    let ways: u64 = (1..=graph.embedded as u64 + 1).product();
    let mut compiled = subschemas.saturating_mul(ways);
    for id in 0..graph.nodes.len() {
        let visits = visits(graph, id, &mut states, 0)?;
        if graph.node(id).unevaluated {
            compiled = compiled.saturating_add(visits.valid.saturating_mul(subschemas));
        }
    }
    if compiled > MAX_COMPILED { Err(BadSchema::TooManyCopies) } else { Ok(compiled) }
}

fn visits(graph: &Graph, id: Id, states: &mut [State], depth: u32) -> Result<Visits, BadSchema> {
    match states[id] {
        State::Done(visits) => return Ok(visits),
        State::Entered => return Err(BadSchema::Endless),
        State::New if depth > MAX_CHAIN => return Err(BadSchema::TooChained),
        State::New => states[id] = State::Entered,
    }
    let mut sum = Visits { valid: 1, mark: 1, collect: 1, chain: 0 };
    for next in &graph.node(id).same_value {
        let next = visits(graph, *next, states, depth + 1)?;
        sum.valid = sum.valid.saturating_add(next.valid);
        sum.mark = sum.mark.saturating_add(next.valid).saturating_add(next.mark);
        sum.collect = sum.collect.saturating_add(next.valid.saturating_mul(2)).saturating_add(next.collect);
        sum.chain = sum.chain.max(next.chain + 1);
    }
    if graph.node(id).unevaluated {
        sum.valid = sum.valid.saturating_add(sum.mark);
        sum.collect = sum.collect.saturating_add(sum.mark);
    }
    if sum.chain > MAX_CHAIN {
        return Err(BadSchema::TooChained);
    }
    if sum.collect > MAX_BRANCHES {
        return Err(BadSchema::TooBranched);
    }
    states[id] = State::Done(sum);
    Ok(sum)
}
