//! `content-length`: `Content-Length` counts bytes.

use super::{cut_short, exchanges};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "content-length",
    group: Group::Http,
    level: Level::Error,
    carriers: Carriers::StreamableHttp,
    summary: "`Content-Length` is the number of bytes of the body",
    clause: Clause::practice("RFC 9112", "6.2 Content-Length"),
    why: "As soon as a text has a letter outside ASCII, the end of the answer is cut off and no client can read it.",
    fix: "Encode the body first, and then take its length in bytes.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let cut = exchanges(case)?.into_iter().find_map(|asked| Some((asked, cut_short(&asked)?)));
    let finding = cut.map(|(asked, length)| {
        let message =
            format!("the body ends after the {length} bytes of `Content-Length`, in the middle of the JSON");
        asked.finding(message, "").with_frames(asked.frames())
    });
    Ok(finding.into_iter().collect())
}
