//! Memory: estimates the memory of a compiled schema. The factors are upper bounds, measured with
//! schemas of all shapes (`tests/memory.rs`).

use crate::{graph::Graph, limits::MAX_PATTERN_CACHE, patterns::Patterns};

/// Memory of any schema.
const BASE: u64 = 4 * 1024;
/// Memory of a subschema without the values in it.
const PER_SUBSCHEMA: u64 = 1024;
/// Memory of a JSON value in a keyword, such as a choice of an `enum`.
const PER_VALUE: u64 = 256;
/// The engine and the graph each keep the names and texts.
const COPIES_OF_TEXT: u64 = 4;

/// The estimate in bytes. `compiled` counts subschemas as often as the engine compiles them.
pub(crate) fn estimate(graph: &Graph, compiled: u64, patterns: &Patterns) -> u64 {
    let subschemas = (graph.nodes.len() as u64).max(1);
    let copies = compiled.div_ceil(subschemas).max(1);
    let values: u64 = graph.nodes.iter().map(|node| node.values * PER_VALUE + node.copied).sum();
    let pointers = graph.pointer_bytes as u64;
    let caches = (graph.patterns.len() * MAX_PATTERN_CACHE) as u64;
    let once = subschemas.saturating_mul(PER_SUBSCHEMA) + values + pointers * COPIES_OF_TEXT;
    BASE + once.saturating_mul(copies) + caches + patterns.bytes() as u64 * COPIES_OF_TEXT
}
