//! Rules of the group `http`.

rules![
    accept_honoured,
    answer_charset,
    answer_type,
    closed_stream,
    cors_wildcard,
    delete_answer,
    ended_session,
    foreign_host,
    foreign_origin,
    get_answer,
    header_case,
    listens_everywhere,
    media_type_checked,
    method_header,
    modern_error_status,
    name_encoding,
    name_header,
    notification_status,
    session_delete,
    session_for_modern,
    session_id_form,
    session_required,
    stream_buffering,
    stream_ends,
    stream_event_ids,
    stream_messages,
    unknown_method_status,
    unknown_session,
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
