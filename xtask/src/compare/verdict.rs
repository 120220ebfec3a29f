//! `Verdict`: how well a linter reported a fault.

use super::complaint::Complaint;
use super::fault::Fault;
use super::linter::Linter;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A complaint that it does not make about the correct server mentions the faulty part. For
    /// our linter: one of the rules that the fault lists found it.
    Named(String),
    /// It makes a complaint that it does not make about the correct server, but about something
    /// else.
    Noticed(String),
    Missed,
}

impl Verdict {
    pub(super) fn of(linter: Linter, fault: &Fault, seen: &[Complaint], usual: &[Complaint]) -> Self {
        let new = new(seen, usual);
        let named = new.iter().find(|complaint| match linter {
            Linter::Ours => fault.named_by.contains(&complaint.check),
            _ => complaint.mentions(&fault.words),
        });
        match (named, new.first()) {
            (Some(complaint), _) => Self::Named(complaint.check.clone()),
            (None, Some(complaint)) => Self::Noticed(complaint.check.clone()),
            (None, None) => Self::Missed,
        }
    }
}

/// True if the complaints name the fault by its words alone, the criterion for other linters.
pub(super) fn is_named_by_words(fault: &Fault, seen: &[Complaint], usual: &[Complaint]) -> bool {
    new(seen, usual).iter().any(|complaint| complaint.mentions(&fault.words))
}

fn new<'a>(seen: &'a [Complaint], usual: &[Complaint]) -> Vec<&'a Complaint> {
    seen.iter().filter(|complaint| !usual.iter().any(|known| known.is_like(complaint))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault() -> Fault {
        serde_json::from_value(serde_json::json!({
            "name": "ping-pong", "mistake": "Ping is answered with text.", "named_by": ["ping-result"],
            "words": ["ping"], "server": {}
        }))
        .unwrap()
    }

    fn verdict(linter: Linter, seen: &[Complaint]) -> Verdict {
        Verdict::of(linter, &fault(), seen, &[Complaint::new("always", "ping is deprecated")])
    }

    #[test]
    fn what_is_always_said_names_nothing() {
        let seen = [Complaint::new("always", "ping is deprecated")];
        assert_eq!(verdict(Linter::McpDoctor, &seen), Verdict::Missed);
    }

    #[test]
    fn another_linter_must_speak_of_the_thing() {
        let about = Complaint::new("E1", "Ping has a result");
        assert_eq!(verdict(Linter::McpLint, &[about]), Verdict::Named("E1".to_owned()));
        let other = Complaint::new("E2", "something failed");
        assert_eq!(verdict(Linter::McpLint, &[other]), Verdict::Noticed("E2".to_owned()));
    }

    #[test]
    fn ours_must_have_the_rule_and_not_just_the_word() {
        let other = Complaint::new("requests-answered", "ping was not answered");
        assert_eq!(verdict(Linter::Ours, &[other]), Verdict::Noticed("requests-answered".to_owned()));
        let right = Complaint::new("ping-result", "…");
        assert_eq!(verdict(Linter::Ours, &[right]), Verdict::Named("ping-result".to_owned()));
    }
}
