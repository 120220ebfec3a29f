//! Conditions on the arguments of a call.
//!
//! Arguments are read from the frame that is forwarded. The parser has refused duplicate keys, and
//! keys are compared after their escapes are decoded.

use super::{filter::glob, path::Directory, rules::ArgumentSpec, truth::Truth};
use globset::GlobMatcher;
use serde_json::{Number, Value};
use trunkline_protocol::Raw;

/// Most reference tokens of a JSON pointer.
const MAX_STEPS: usize = 16;

/// A compiled [`ArgumentSpec`].
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    steps: Vec<String>,
    tests: Vec<Test>,
    exists: Option<bool>,
}

#[derive(Debug, Clone)]
enum Test {
    OneOf(Vec<Value>),
    Glob(Box<GlobMatcher>),
    Min(Number),
    Max(Number),
    Within(Directory),
}

impl Condition {
    pub(crate) fn new(spec: &ArgumentSpec) -> Result<Self, String> {
        let mut tests = Vec::new();
        tests.extend(spec.equals.clone().map(|value| Test::OneOf(vec![value])));
        if !spec.one_of.is_empty() {
            tests.push(Test::OneOf(spec.one_of.clone()));
        }
        if let Some(text) = &spec.glob {
            tests.push(Test::Glob(Box::new(glob(text).map_err(|bad| bad.to_string())?)));
        }
        tests.extend(spec.min.clone().map(Test::Min));
        tests.extend(spec.max.clone().map(Test::Max));
        if let Some(text) = &spec.within {
            let directory = Directory::new(text).ok_or_else(|| {
                format!("`{text}` is no directory that paths can be compared with: no `..`, `~`, `\\` or `$`")
            })?;
            tests.push(Test::Within(directory));
        }
        if tests.is_empty() && spec.exists.is_none() {
            return Err(format!("the condition at `{}` tests nothing", spec.at));
        }
        Ok(Self { steps: steps(&spec.at)?, tests, exists: spec.exists })
    }

    /// The argument that the condition is about; `None` if it is about all of them.
    pub(crate) fn argument(&self) -> Option<&str> {
        self.steps.first().map(String::as_str)
    }

    /// Judges the condition. `arguments` is the object of all arguments, if there is one.
    pub(crate) fn judge(&self, arguments: Option<&Raw>) -> Truth {
        let found = match arguments {
            None => Found::Nothing,
            Some(arguments) => find(arguments.clone(), &self.steps),
        };
        let value = match found {
            Found::Value(value) => value,
            Found::Nothing if self.exists == Some(false) => return Truth::Yes,
            Found::Nothing => return Truth::No,
            Found::Odd => return Truth::Unknown,
        };
        let exists = Truth::from(self.exists != Some(false));
        self.tests.iter().fold(exists, |so_far, test| so_far.and(test.judge(&value)))
    }
}

/// The value that a pointer leads to.
enum Found {
    Value(Raw),
    /// There is none, or it is null, which servers read like a missing one.
    Nothing,
    /// The pointer goes through something that is neither object nor list, such as a text that
    /// holds JSON.
    Odd,
}

fn find(mut value: Raw, steps: &[String]) -> Found {
    for step in steps {
        if value.is_null() {
            return Found::Nothing;
        }
        let next = if value.is_object() {
            value.member(step)
        } else {
            let Ok(items) = value.decode::<Vec<Raw>>() else { return Found::Odd };
            match step.parse::<usize>() {
                Ok(place) => items.get(place).cloned(),
                Err(_) => return Found::Odd,
            }
        };
        match next {
            Some(next) => value = next,
            None => return Found::Nothing,
        }
    }
    if value.is_null() { Found::Nothing } else { Found::Value(value) }
}

fn steps(pointer: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{pointer}` is no JSON Pointer, such as `/path` or `/items/0/name`");
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let rest = pointer.strip_prefix('/').ok_or_else(wrong)?;
    let steps: Vec<String> = rest.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    if steps.len() > MAX_STEPS { Err(wrong()) } else { Ok(steps) }
}

impl Test {
    fn judge(&self, value: &Raw) -> Truth {
        let whole = self.judge_one(value);
        if whole == Truth::Yes || !value.as_bytes().starts_with(b"[") {
            return whole;
        }
        // A list of values: each is judged.
        let Ok(items) = value.decode::<Vec<Raw>>() else { return Truth::Unknown };
        Truth::of_all(items.iter().map(|item| self.judge_one(item)))
    }

    fn judge_one(&self, value: &Raw) -> Truth {
        match self {
            Self::OneOf(known) => known.iter().map(|known| equal(known, value)).max().unwrap_or(Truth::No),
            Self::Glob(glob) => match value.text() {
                Some(text) => glob.is_match(&*text).into(),
                None => as_text(value, |text| glob.is_match(text)),
            },
            Self::Min(least) => compared(value, least, |value, least| value >= least),
            Self::Max(most) => compared(value, most, |value, most| value <= most),
            Self::Within(directory) => value.text().map_or(Truth::Unknown, |text| directory.contains(&text)),
        }
    }
}

/// Judges a value that is no text as if a server read it as one: if that would match, it cannot be
/// judged.
fn as_text(value: &Raw, matches: impl Fn(&str) -> bool) -> Truth {
    let is_scalar = !value.as_bytes().starts_with(b"{") && !value.as_bytes().starts_with(b"[");
    if is_scalar && !matches(value.as_str()) { Truth::No } else { Truth::Unknown }
}

fn equal(known: &Value, value: &Raw) -> Truth {
    match known {
        // Servers convert leniently: `"05"` may be the number 5, and `"yes"` or 1 the value true.
        // A value of another kind than the known one therefore cannot be judged.
        Value::Number(known) => match number(value.as_str()) {
            Some(given) => (number(&known.to_string()).is_some_and(|known| known == given)).into(),
            None => Truth::Unknown,
        },
        Value::Bool(known) => match value.as_str() {
            "true" => (*known).into(),
            "false" => (!*known).into(),
            _ => Truth::Unknown,
        },
        Value::String(known) => match value.text() {
            Some(text) => (*known == *text).into(),
            None => as_text(value, |text| known.trim().to_lowercase() == text),
        },
        _ => value.decode::<Value>().map_or(Truth::Unknown, |value| (value == *known).into()),
    }
}

/// A number whose whole digits are compared exactly, as far as it has no fraction.
#[derive(Debug, Clone, Copy)]
enum Amount {
    Whole(i128),
    Real(f64),
}

impl Amount {
    #[expect(clippy::cast_precision_loss, reason = "only used where the other number is a fraction")]
    fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(std::cmp::Ordering::Equal)
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => Some(one.cmp(other)),
            _ => self.real().partial_cmp(&other.real()),
        }
    }
}

fn number(text: &str) -> Option<Amount> {
    if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return None;
    }
    let whole = text.parse().ok().map(Amount::Whole);
    whole.or_else(|| text.parse().ok().map(Amount::Real))
}

fn compared(value: &Raw, bound: &Number, holds: impl Fn(Amount, Amount) -> bool) -> Truth {
    match (number(value.as_str()), number(&bound.to_string())) {
        (Some(value), Some(bound)) => holds(value, bound).into(),
        // A server may read a text as a number.
        _ => Truth::Unknown,
    }
}

#[cfg(test)]
mod tests;
