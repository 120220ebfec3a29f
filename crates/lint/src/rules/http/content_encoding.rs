//! `content-encoding`: answers are not compressed unasked.

use super::{coding, exchanges};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "content-encoding",
    group: Group::Http,
    level: Level::Error,
    carriers: Carriers::StreamableHttp,
    summary: "an answer is compressed only if the client accepts that",
    clause: Clause::practice("RFC 9110", "12.5.3 Accept-Encoding"),
    why: "Clients that did not ask for compression cannot read the answer, and streams behind it are held back.",
    fix: "Compress only what `Accept-Encoding` allows, and no event streams.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let coded = exchanges(case)?.into_iter().find_map(|asked| Some((asked, coding(asked.http()?)?)));
    let finding = coded.map(|(asked, coding)| {
        let message =
            format!("the answer is encoded with `{coding}`, although the request accepts no encoding");
        asked.finding(message, "")
    });
    Ok(finding.into_iter().collect())
}
