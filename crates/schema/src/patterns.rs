//! Patterns: measures regular expressions before the engine compiles them.
//!
//! A pattern of ten bytes can compile to a megabyte (`.{1,900}`), and matching takes time in
//! proportion to that size. So every pattern is measured first, with one limit for the whole
//! schema.

use crate::limits::{MAX_ALL_PATTERN_BYTES, MAX_PATTERN_BYTES, MAX_PATTERN_TEXT, MAX_PATTERNS};
use regex_automata::nfa::thompson;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory of the patterns of all schemas in use.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The number of states of each pattern, in the order of the graph's patterns.
#[derive(Debug)]
pub(crate) struct Patterns {
    states: Vec<u64>,
    /// The amount that was added to [`TAKEN`].
    bytes: usize,
}

/// The reason for which a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BadPattern {
    TooMany,
    TooLarge(String),
    /// The patterns of all schemas together take too much memory.
    NoRoom,
    /// Not a valid regular expression, or one that needs backtracking.
    NotLinear(String),
}

impl Patterns {
    pub(crate) fn new(patterns: &[Box<str>]) -> Result<Self, BadPattern> {
        let text: usize = patterns.iter().map(|pattern| pattern.len()).sum();
        if patterns.len() > MAX_PATTERNS || text > MAX_PATTERN_TEXT {
            return Err(BadPattern::TooMany);
        }
        let (mut left, mut states) = (MAX_PATTERN_BYTES, Vec::new());
        for pattern in patterns {
            let nfa = compiled(pattern, left)?;
            left = left.saturating_sub(nfa.memory_usage());
            states.push(nfa.states().len() as u64);
        }
        let bytes = MAX_PATTERN_BYTES - left;
        let room =
            |taken: usize| Some(taken + bytes).filter(|all| bytes == 0 || *all <= MAX_ALL_PATTERN_BYTES);
        match TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room) {
            Ok(_) => Ok(Self { states, bytes }),
            Err(_) => Err(BadPattern::NoRoom),
        }
    }

    /// Memory of all patterns, without the caches of their matchers.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn states(&self, pattern: usize) -> u64 {
        self.states.get(pattern).copied().unwrap_or(0)
    }
}

impl Drop for Patterns {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// True if the pattern needs backtracking or is not a valid regular expression.
pub(crate) fn is_not_linear(pattern: &str) -> bool {
    pattern.len() <= MAX_PATTERN_TEXT
        && matches!(compiled(pattern, MAX_PATTERN_BYTES), Err(BadPattern::NotLinear(_)))
}

fn compiled(pattern: &str, most_bytes: usize) -> Result<thompson::NFA, BadPattern> {
    let shown = || pattern.chars().take(60).collect();
    let translated = jsonschema_regex::to_rust_regex(pattern).map_err(|()| BadPattern::NotLinear(shown()))?;
    let config = thompson::Config::new().nfa_size_limit(Some(most_bytes));
    thompson::Compiler::new().configure(config).build(&translated).map_err(|error| {
        if error.size_limit().is_some() {
            BadPattern::TooLarge(shown())
        } else {
            BadPattern::NotLinear(shown())
        }
    })
}
