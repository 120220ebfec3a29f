//! Meter: counts the steps that the engine may need for a value, before the engine runs.
//!
//! The count includes every branch that the engine might take and ignores its short cuts and
//! caches, so it is an upper bound. Counting stops when the budget is used up, so even a value
//! that is too expensive costs at most the budget.

use crate::{
    graph::{Graph, Id, Node},
    limits::{Budget, MAX_ERROR_BYTES, MAX_NESTING},
    patterns::Patterns,
};
use serde_json::Value;

/// The value is too expensive to validate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("validating the value takes too many steps")]
pub struct TooExpensive;

/// Memory of one error without its strings.
const ERROR_BYTES: u64 = 512;
/// Memory of an error per level of nesting.
const LEVEL_BYTES: u64 = 32;
/// Bytes of text that are compared or counted in one step.
const TEXT_PER_STEP: u64 = 64;
/// Bytes of text that are parsed in one step.
const PARSED_PER_STEP: u64 = 8;
/// NFA states of a pattern that are visited for a byte in one step.
const STATES_PER_STEP: u64 = 32;
/// Maximum length of a list whose items are compared pair by pair. Items of longer lists are
/// hashed and compared once.
const MAX_PAIRWISE: usize = 15;
const HASHED: u64 = 4;
/// Levels that are searched for a cyclic reference in one step.
const LEVELS_PER_STEP: u64 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Valid,
    Mark,
    Collect,
}

/// A value, or the name of a member.
#[derive(Clone, Copy)]
enum Instance<'a> {
    Value(&'a Value),
    Name(&'a str),
}

/// The engine's current position.
#[derive(Clone, Copy)]
struct Position {
    nesting: u32,
    /// Length of the JSON pointer into the value, which every error copies.
    path: u64,
}

/// A node of the schema, met at a position.
#[derive(Clone, Copy)]
struct Visit<'a> {
    node: &'a Node,
    at: Position,
    mode: Mode,
}

struct Meter<'a> {
    graph: &'a Graph,
    patterns: &'a Patterns,
    steps: u64,
    bytes: u64,
}

/// The maximum cost of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) steps: u64,
    /// Memory of errors.
    pub(crate) bytes: u64,
}

/// The maximum cost of deciding if the value fits; fails if it is above the budget.
pub(crate) fn validity(
    schema: (&Graph, &Patterns),
    value: &Value,
    budget: Budget,
) -> Result<Cost, TooExpensive> {
    Meter::new(schema, budget).cost(value, Mode::Valid, budget)
}

/// The maximum cost of collecting the errors; fails if it is above the budget.
pub(crate) fn errors(
    schema: (&Graph, &Patterns),
    value: &Value,
    budget: Budget,
) -> Result<Cost, TooExpensive> {
    Meter::new(schema, budget).cost(value, Mode::Collect, budget)
}

impl<'a> Meter<'a> {
    fn new((graph, patterns): (&'a Graph, &'a Patterns), budget: Budget) -> Self {
        Self { graph, patterns, steps: budget.0, bytes: MAX_ERROR_BYTES }
    }

    fn cost(mut self, value: &Value, mode: Mode, budget: Budget) -> Result<Cost, TooExpensive> {
        self.visit(0, Instance::Value(value), Position { nesting: 0, path: 0 }, mode)?;
        Ok(Cost { steps: budget.0 - self.steps, bytes: MAX_ERROR_BYTES - self.bytes })
    }

    fn spend(&mut self, steps: u64) -> Result<(), TooExpensive> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooExpensive)?;
        Ok(())
    }

    fn visit(
        &mut self,
        id: Id,
        instance: Instance<'_>,
        at: Position,
        mode: Mode,
    ) -> Result<(), TooExpensive> {
        let graph = self.graph;
        let node = graph.node(id);
        if at.nesting > MAX_NESTING {
            return Err(TooExpensive);
        }
        let names = node.properties.len() as u64;
        self.spend(1 + names + node.values + u64::from(at.nesting) / LEVELS_PER_STEP)?;
        if mode == Mode::Collect {
            self.errors(node, instance, at)?;
        }
        let deeper = Position { nesting: at.nesting + 1, ..at };
        for next in &node.same_value {
            if mode != Mode::Valid {
                self.visit(*next, instance, deeper, Mode::Valid)?;
            }
            if mode == Mode::Collect {
                self.visit(*next, instance, deeper, Mode::Valid)?;
            }
            self.visit(*next, instance, deeper, mode)?;
        }
        if node.unevaluated && mode != Mode::Mark {
            self.visit(id, instance, deeper, Mode::Mark)?;
        }
        let visit = Visit { node, at, mode };
        match instance {
            Instance::Name(text) => self.text(node, text),
            Instance::Value(Value::String(text)) => self.text(node, text),
            Instance::Value(Value::Object(members)) => {
                members.iter().try_for_each(|(name, value)| self.member(visit, name, value))
            }
            Instance::Value(Value::Array(items)) => {
                if node.unique && items.len() > 1 {
                    let times = if items.len() > MAX_PAIRWISE { HASHED } else { items.len() as u64 };
                    items.iter().try_for_each(|item| self.compare(item, times))?;
                }
                let mut places = items.iter().enumerate();
                places.try_for_each(|(place, value)| self.item(visit, place, value))
            }
            Instance::Value(_) => Ok(()),
        }
    }

    /// Charges the memory of the errors that one visit may produce.
    fn errors(&mut self, node: &Node, instance: Instance<'_>, at: Position) -> Result<(), TooExpensive> {
        let names: u64 = match instance {
            Instance::Value(Value::Object(members)) => members.keys().map(|name| name.len() as u64).sum(),
            _ => 0,
        };
        let errors = node.values + 2;
        let each = ERROR_BYTES + at.path + u64::from(at.nesting) * LEVEL_BYTES;
        let bytes = errors * each + node.copied + names;
        self.bytes = self.bytes.checked_sub(bytes).ok_or(TooExpensive)?;
        Ok(())
    }

    fn text(&mut self, node: &Node, text: &str) -> Result<(), TooExpensive> {
        let length = text.len() as u64;
        self.spend(length / TEXT_PER_STEP)?;
        if node.parses_text {
            self.spend(length / PARSED_PER_STEP)?;
        }
        node.pattern.map_or(Ok(()), |pattern| self.matching(pattern, length))
    }

    fn matching(&mut self, pattern: usize, length: u64) -> Result<(), TooExpensive> {
        self.spend(1 + (length + 1).saturating_mul(self.patterns.states(pattern)) / STATES_PER_STEP)
    }

    fn member(&mut self, visit: Visit<'_>, name: &str, value: &Value) -> Result<(), TooExpensive> {
        let Visit { node, at, mode } = visit;
        let length = name.len() as u64;
        self.spend(1 + length / TEXT_PER_STEP)?;
        let inside = Position { nesting: at.nesting + 1, path: at.path + length + 1 };
        let value = Instance::Value(value);
        let named = node.properties.get(name);
        for (pattern, id) in &node.pattern_properties {
            // The engine matches the pattern a second time to find the members that are left for
            // other keywords.
            self.matching(*pattern, length)?;
            self.matching(*pattern, length)?;
            self.descend(*id, value, inside, mode)?;
        }
        match named {
            Some(id) => self.descend(*id, value, inside, mode)?,
            None => node.other_members.iter().try_for_each(|id| self.descend(*id, value, inside, mode))?,
        }
        node.names.map_or(Ok(()), |id| self.twice(id, Instance::Name(name), inside, mode))
    }

    fn item(&mut self, visit: Visit<'_>, place: usize, value: &Value) -> Result<(), TooExpensive> {
        let Visit { node, at, mode } = visit;
        self.spend(1)?;
        let inside = Position { nesting: at.nesting + 1, path: at.path + 8 };
        let value = Instance::Value(value);
        match node.first_items.get(place) {
            Some(id) => self.descend(*id, value, inside, mode)?,
            None => node.items.iter().try_for_each(|id| self.descend(*id, value, inside, mode))?,
        }
        node.contains.map_or(Ok(()), |id| self.twice(id, value, inside, mode))
    }

    /// Visits a member or item. `Mode::Mark` becomes `Mode::Valid` there: only the value itself is
    /// marked.
    fn descend(&mut self, id: Id, value: Instance<'_>, at: Position, mode: Mode) -> Result<(), TooExpensive> {
        self.visit(id, value, at, if mode == Mode::Mark { Mode::Valid } else { mode })
    }

    /// Visits twice, for keywords that validate first and then collect errors.
    fn twice(&mut self, id: Id, value: Instance<'_>, at: Position, mode: Mode) -> Result<(), TooExpensive> {
        self.visit(id, value, at, Mode::Valid)?;
        self.descend(id, value, at, mode)
    }

    /// Charges the comparisons of an item with the others.
    fn compare(&mut self, value: &Value, times: u64) -> Result<(), TooExpensive> {
        self.spend(times)?;
        match value {
            Value::String(text) => self.spend(text.len() as u64 * times / TEXT_PER_STEP),
            Value::Array(items) => items.iter().try_for_each(|item| self.compare(item, times)),
            Value::Object(members) => members.iter().try_for_each(|(name, value)| {
                self.spend(name.len() as u64 * times / TEXT_PER_STEP)?;
                self.compare(value, times)
            }),
            _ => Ok(()),
        }
    }
}
