//! `supported-versions-served`: a revision that is listed is served.

use crate::{
    probes::{LISTED_VERSION_STEP, LISTED_VERSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "supported-versions-served",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "every revision in `supportedVersions` is served",
    clause: Clause::of("2026-07-28", "server/discover", "DiscoverResult"),
    why: "Clients choose from the list; one that chooses a revision which is then refused does not connect.",
    fix: "List only revisions that requests may use.",
    needs: &[&LISTED_VERSIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let refused = case.asked(LISTED_VERSION_STEP).filter(|asked| asked.error_code() == Some(-32022));
    let finding = |asked: Asked<'_>| {
        let message =
            format!("`supportedVersions` lists {}, and a request of it is refused", asked.variant());
        asked.finding(message, "/error").about(asked.variant())
    };
    Ok(refused.map(finding).collect())
}
