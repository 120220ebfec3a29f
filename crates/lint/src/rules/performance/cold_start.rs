//! `cold-start`: a server starts quickly.

use crate::{
    evidence::{Evidence, Line, Settled},
    probes::INTRODUCTION,
    rules::prelude::*,
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "cold-start",
    group: Group::Performance,
    level: Level::Warning,
    carriers: Carriers::Stdio,
    summary: "a server answers within 5 s of its start",
    clause: Clause::practice("practice", "performance"),
    why: "Clients start servers when the user opens them, and give up after some seconds.",
    fix: "Load what is slow when it is first needed, and install packages beforehand instead of at each start.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

const SLOW: Duration = Duration::from_secs(5);

fn check(evidence: &Evidence) -> Verdict {
    // The fastest start counts, because processes that start in parallel slow each other down; and
    // of it the time in which the server could run, because a busy machine is not its fault.
    let first = |line: &Line| {
        let answered = line.exchanges.first().filter(|first| first.settled == Settled::Answered)?;
        Some(answered.own_time())
    };
    let Some(took) = evidence.lines.iter().filter_map(first).min() else {
        return Err(Skip::not_verified("no start was measured"));
    };
    if took <= SLOW {
        return Ok(Vec::new());
    }
    let message = format!("the first answer came {:.1} s after the start", took.as_secs_f64());
    Ok(vec![Finding::new(message)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Exchange, Step};
    use trunkline_client::Carrier;

    fn findings(took: u64, queued: u64) -> usize {
        let exchange = Exchange {
            step: Step("start"),
            variant: String::new(),
            sent: None,
            got: Vec::new(),
            answer: None,
            settled: Settled::Answered,
            http: None,
            took: Duration::from_secs(took),
            queued: Duration::from_secs(queued),
        };
        let mut line = Line::new("main");
        line.exchanges.push(exchange);
        let mut evidence = Evidence::new("x", Carrier::Stdio);
        evidence.lines.push(line);
        check(&evidence).unwrap().len()
    }

    #[test]
    fn time_spent_waiting_for_a_cpu_does_not_count() {
        assert_eq!(findings(6, 0), 1);
        assert_eq!(findings(6, 3), 0);
        assert_eq!(findings(9, 3), 1);
    }

    #[test]
    fn a_start_within_the_limit_is_not_reported_at_any_level() {
        assert_eq!(findings(3, 0), 0);
    }
}
