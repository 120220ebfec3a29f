//! `accept-forms`: `Accept` is read as a list.

use crate::{
    probes::{ACCEPT_FORM_STEP, HTTP_HEADERS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "accept-forms",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "`Accept` may list the two types in any order, with or without blanks and parameters",
    clause: Clause::practice("RFC 9110", "12.5.1 Accept"),
    why: "A client whose HTTP library spells the header in another way is refused with 406, although it accepts both types.",
    fix: "Split the header at its commas, drop parameters and blanks, and look for both types.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let refused = case.all(&HTTP_HEADERS, ACCEPT_FORM_STEP)?.into_iter().find(|asked| {
        asked.http().is_some_and(|http| (400..500).contains(&http.status)) || asked.error().is_some()
    });
    let finding = refused.map(|asked| {
        let message =
            format!("a request with `Accept: {}` is refused: {}", asked.variant(), asked.describe());
        asked.finding(message, "")
    });
    Ok(finding.into_iter().collect())
}
