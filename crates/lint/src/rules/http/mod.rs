//! Rules of the group `http`.

rules![
    accept_honoured,
    all_interfaces,
    answer_charset,
    answer_type,
    cross_origin_open,
    foreign_host,
    foreign_origin,
    get_stream,
    header_encoding,
    header_mismatch,
    media_type_checked,
    modern_error_status,
    modern_verbs,
    notification_accepted,
    session_delete,
    session_ended,
    session_id_characters,
    session_id_strength,
    session_modern,
    session_required,
    session_unknown,
    stream_buffering,
    stream_ends,
    stream_event_ids,
    stream_messages,
    unknown_method_status,
    version_header,
    version_header_absent,
];

use crate::{
    evidence::{Asked, Case},
    outcome::Skip,
    probes,
};

/// Every exchange that has an HTTP answer, except with well-known documents of others.
fn exchanges<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    let all: Vec<_> = case
        .lines()
        .flat_map(|(index, line)| line.exchanges.iter().map(move |exchange| (index, exchange)))
        .map(|(index, exchange)| Asked::new(case.evidence(), index, exchange))
        .filter(|asked| asked.http().is_some())
        .collect();
    if all.is_empty() { Err(Skip::not_verified("there was no HTTP answer")) } else { Ok(all) }
}

/// That the server has sessions at all.
fn sessions(case: &Case<'_>) -> Result<(), Skip> {
    let begun = case.asked(probes::INITIALIZE).chain(case.asked(probes::INTRODUCED_AGAIN));
    let has = |asked: Asked<'_>| asked.http().is_some_and(|head| head.header("mcp-session-id").is_some());
    if begun.into_iter().any(has) { Ok(()) } else { Err(Skip::not_applicable("the server begins no session")) }
}

/// Whether the server was reached over loopback.
fn is_local(case: &Case<'_>) -> bool {
    case.lines().any(|(_, line)| line.observed(probes::LOCAL_STEP).next().is_some())
}
