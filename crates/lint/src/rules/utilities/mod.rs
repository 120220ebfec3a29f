//! Rules of the group `utilities`.

rules![
    cache_hints,
    cache_scope_credentials,
    cache_scope_pages,
    cache_time,
    cancelled_call,
    completion_undeclared,
    completion_unknown,
    completion_values,
    completion_works,
    cursor_refused,
    cursor_type,
    empty_pages,
    input_required_methods,
    input_required_shape,
    input_undeclared,
    items_once,
    list_changed_undeclared,
    listen_acknowledged,
    listen_filter,
    listen_tagged,
    listen_works,
    log_level_obeyed,
    log_level_refused,
    log_level_set,
    log_message_shape,
    log_unasked,
    pages_end,
    progress_after_end,
    progress_rises,
    request_state_checked,
    stray_progress,
    subscribe_undeclared,
    subscribe_works,
    undeclared_logs,
    update_unasked,
];

use crate::{
    evidence::{Asked, Case, List, Message},
    outcome::Skip,
    probes::{self, LISTEN, LISTS},
};
use serde_json::Value;

/// The log levels, lowest first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The pages of every list that was walked.
fn pages<'a>(case: &Case<'a>) -> Result<Vec<(List, Vec<Asked<'a>>)>, Skip> {
    let walked: Vec<_> = List::ALL
        .into_iter()
        .map(|list| (list, case.asked(list.step()).collect::<Vec<_>>()))
        .filter(|(_, pages)| pages.iter().any(|page| page.result().is_some()))
        .collect();
    let declared = List::ALL.into_iter().any(|list| case.capability(list.capability()).is_some());
    match (walked.is_empty(), declared) {
        (false, _) => Ok(walked),
        (true, true) => Err(case.missing(&LISTS)),
        (true, false) => Err(Skip::not_applicable("the server declares nothing that is listed")),
    }
}

/// The results that must have caching hints, with the method that gave them.
fn cacheable<'a>(case: &Case<'a>) -> Result<Vec<(&'static str, Asked<'a>, &'a Value)>, Skip> {
    let mut all = Vec::new();
    all.extend(case.introduced().map(|asked| ("server/discover", asked)));
    for list in List::ALL {
        all.extend(case.asked(list.step()).map(|asked| (list.method(), asked)));
    }
    let complete = |result: &&Value| result.get("resultType").is_none_or(|kind| kind == "complete");
    let all: Vec<_> = all
        .into_iter()
        .filter_map(|(method, asked)| Some((method, asked, asked.result().filter(complete)?)))
        .collect();
    if all.is_empty() { Err(case.missing(&LISTS)) } else { Ok(all) }
}

/// All notifications of a method.
fn notifications<'a>(case: &Case<'a>, method: &str) -> Vec<Message<'a>> {
    case.messages().into_iter().filter(|message| message.method() == Some(method)).collect()
}

/// The subscription, and the notifications that came while it was open.
fn listened<'a>(case: &Case<'a>) -> Result<(Asked<'a>, Vec<Message<'a>>), Skip> {
    let declared = |name: &str| case.capability(&format!("{name}.listChanged")).is_some();
    if !["tools", "prompts", "resources"].into_iter().any(declared) {
        return Err(Skip::not_applicable("the server declares no `listChanged`"));
    }
    let asked = case.first(&LISTEN, probes::LISTEN_STEP)?;
    let later = case.asked(probes::LISTEN_AFTER_STEP).chain(case.asked(probes::LISTEN_END_STEP));
    let all: Vec<_> = asked.got().into_iter().chain(later.flat_map(|later| later.got())).collect();
    if all.iter().any(|message| message.value.get("error").is_some()) {
        return Err(Skip::not_verified("`subscriptions/listen` was refused"));
    }
    let about = |message: &Message<'_>| message.method().is_some_and(|method| method.starts_with("notifications/"));
    Ok((asked, all.into_iter().filter(about).collect()))
}
