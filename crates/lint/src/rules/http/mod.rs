//! Rules of the group `http`.

mod accept_forms;
mod accept_honoured;
mod answer_charset;
mod answer_type;
mod closed_stream;
mod content_encoding;
mod content_length;
mod cors_preflight;
mod cors_wildcard;
mod delete_answer;
mod delete_one_session;
mod ended_session;
mod endpoint_redirect;
mod foreign_host;
mod foreign_origin;
mod get_answer;
mod header_case;
mod initialize_again;
mod listens_everywhere;
mod media_type_checked;
mod media_type_parameters;
mod method_header;
mod modern_error_status;
mod name_encoding;
mod name_header;
mod notification_status;
mod older_revision;
mod second_client;
mod session_delete;
mod session_for_modern;
mod session_id_form;
mod session_id_stable;
mod session_required;
mod stream_buffering;
mod stream_ends;
mod stream_event_ids;
mod stream_event_names;
mod stream_messages;
mod unknown_method_status;
mod unknown_session;
mod version_header;
mod version_header_absent;

use crate::rule::Rule;
use crate::{
    evidence::{Asked, Case, HttpHead},
    outcome::Skip,
    probes,
};

pub(super) static RULES: &[&Rule] = &[
    &accept_forms::RULE,
    &accept_honoured::RULE,
    &answer_charset::RULE,
    &answer_type::RULE,
    &closed_stream::RULE,
    &content_encoding::RULE,
    &content_length::RULE,
    &cors_preflight::RULE,
    &cors_wildcard::RULE,
    &delete_answer::RULE,
    &delete_one_session::RULE,
    &ended_session::RULE,
    &endpoint_redirect::RULE,
    &foreign_host::RULE,
    &foreign_origin::RULE,
    &get_answer::RULE,
    &header_case::RULE,
    &initialize_again::RULE,
    &listens_everywhere::RULE,
    &media_type_checked::RULE,
    &media_type_parameters::RULE,
    &method_header::RULE,
    &modern_error_status::RULE,
    &name_encoding::RULE,
    &name_header::RULE,
    &notification_status::RULE,
    &older_revision::RULE,
    &second_client::RULE,
    &session_delete::RULE,
    &session_for_modern::RULE,
    &session_id_form::RULE,
    &session_id_stable::RULE,
    &session_required::RULE,
    &stream_buffering::RULE,
    &stream_ends::RULE,
    &stream_event_ids::RULE,
    &stream_event_names::RULE,
    &stream_messages::RULE,
    &unknown_method_status::RULE,
    &unknown_session::RULE,
    &version_header::RULE,
    &version_header_absent::RULE,
];

/// All exchanges with an HTTP response.
fn exchanges<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    let all: Vec<_> = case
        .lines()
        .flat_map(|(index, line)| line.exchanges.iter().map(move |exchange| (index, exchange)))
        .map(|(index, exchange)| Asked::new(case.evidence(), index, exchange))
        .filter(|asked| asked.http().is_some())
        .collect();
    if all.is_empty() { Err(Skip::not_verified("there was no HTTP answer")) } else { Ok(all) }
}

/// Skips the rule unless the server uses sessions.
fn sessions(case: &Case<'_>) -> Result<(), Skip> {
    let begun = case.asked(probes::INITIALIZE).chain(case.asked(probes::INTRODUCED_AGAIN));
    let has = |asked: Asked<'_>| asked.http().is_some_and(|head| head.header("mcp-session-id").is_some());
    if begun.into_iter().any(has) {
        Ok(())
    } else {
        Err(Skip::not_applicable("the server begins no session"))
    }
}

/// The content coding of a response that has one.
fn coding(http: &HttpHead) -> Option<&str> {
    http.header("content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity"))
}

/// The value of `Content-Length` if the body ends there in the middle of its JSON, although the
/// text has characters of several bytes.
fn cut_short(asked: &Asked<'_>) -> Option<usize> {
    let http = asked.http().filter(|http| http.is_success() && coding(http).is_none())?;
    let length: usize = http.header("content-length")?.parse().ok()?;
    let frame = asked.noise()?;
    let cut =
        serde_json::from_slice::<serde::de::IgnoredAny>(&frame.bytes).is_err_and(|error| error.is_eof());
    (cut && frame.length == length && !frame.bytes.is_ascii()).then_some(length)
}
