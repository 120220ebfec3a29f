//! `Summary`: the steps of a long task and their durations.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;

#[derive(Debug, Default)]
pub(crate) struct Summary {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    outcome: Outcome,
    elapsed: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
}

impl Summary {
    /// Prints the name of a step, runs it, then prints and records its duration.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n== {name}");
        let start = Instant::now();
        let result = work();
        let elapsed = start.elapsed();
        let outcome = if result.is_ok() { Outcome::Passed } else { Outcome::Failed };
        println!("== {name}: {outcome} after {}", seconds(elapsed));
        self.steps.push(Step { name: name.to_owned(), outcome, elapsed });
        result
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
        for step in &self.steps {
            let (name, outcome) = (&step.name, step.outcome.to_string());
            writeln!(f, "{name:width$}  {outcome:6}  {:>9}", seconds(step.elapsed))?;
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
        })
    }
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.1} s", elapsed.as_secs_f64())
}
