//! Rules of the group `utilities`.

mod cache_hints;
mod cache_scope_credentials;
mod cache_scope_pages;
mod cache_time;
mod cancelled_call;
mod completion_undeclared;
mod completion_unknown;
mod completion_values;
mod completion_works;
mod cursor_refused;
mod cursor_type;
mod empty_pages;
mod input_required_methods;
mod input_required_shape;
mod input_undeclared;
mod items_once;
mod list_changed_undeclared;
mod listen_acknowledged;
mod listen_filter;
mod listen_tagged;
mod listen_works;
mod log_level_obeyed;
mod log_level_refused;
mod log_level_set;
mod log_message_shape;
mod log_unasked;
mod pages_end;
mod progress_after_end;
mod progress_rises;
mod request_state_checked;
mod stray_progress;
mod subscribe_undeclared;
mod subscribe_works;
mod undeclared_logs;
mod update_unasked;

use crate::rule::Rule;
use crate::{
    evidence::{Asked, Case, List, Message},
    outcome::Skip,
    probes::{self, LISTEN, LISTS},
};
use serde_json::Value;

pub(super) static RULES: &[&Rule] = &[
    &cache_hints::RULE,
    &cache_scope_credentials::RULE,
    &cache_scope_pages::RULE,
    &cache_time::RULE,
    &cancelled_call::RULE,
    &completion_undeclared::RULE,
    &completion_unknown::RULE,
    &completion_values::RULE,
    &completion_works::RULE,
    &cursor_refused::RULE,
    &cursor_type::RULE,
    &empty_pages::RULE,
    &input_required_methods::RULE,
    &input_required_shape::RULE,
    &input_undeclared::RULE,
    &items_once::RULE,
    &list_changed_undeclared::RULE,
    &listen_acknowledged::RULE,
    &listen_filter::RULE,
    &listen_tagged::RULE,
    &listen_works::RULE,
    &log_level_obeyed::RULE,
    &log_level_refused::RULE,
    &log_level_set::RULE,
    &log_message_shape::RULE,
    &log_unasked::RULE,
    &pages_end::RULE,
    &progress_after_end::RULE,
    &progress_rises::RULE,
    &request_state_checked::RULE,
    &stray_progress::RULE,
    &subscribe_undeclared::RULE,
    &subscribe_works::RULE,
    &undeclared_logs::RULE,
    &update_unasked::RULE,
];

/// The log levels, lowest first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The pages of every list that was fetched.
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

/// The results that must have caching hints, with their methods.
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

/// The subscription, and the notifications while it was open.
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
    let about =
        |message: &Message<'_>| message.method().is_some_and(|method| method.starts_with("notifications/"));
    Ok((asked, all.into_iter().filter(about).collect()))
}
