//! The rules, by group. A group's `mod.rs` lists its files and puts each file's `RULE` into the
//! group's table. A rule that is missing there is dead code, which is a compile error.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all checks have one signature, also those that always have a verdict"
)]

mod auth;
mod config;
mod content;
mod context;
mod docs;
mod fuzzed;
mod http;
mod icons;
mod json_rpc;
mod lifecycle;
mod performance;
mod prelude;
mod prompts;
mod resources;
mod schema;
mod security;
mod stdio;
mod tasks;
mod tools;
mod utilities;
mod words;

pub use security::suspicions;

use crate::{
    evidence::{Asked, Case, Item, List},
    outcome::Skip,
    probes::{PROMPT_GET_STEP, PROMPT_GETS, RESOURCE_READ_STEP, RESOURCE_READS},
    rule::Rule,
};

static GROUPS: &[&[&Rule]] = &[
    lifecycle::RULES,
    json_rpc::RULES,
    stdio::RULES,
    http::RULES,
    tools::RULES,
    resources::RULES,
    prompts::RULES,
    utilities::RULES,
    tasks::RULES,
    auth::RULES,
    security::RULES,
    performance::RULES,
    context::RULES,
    docs::RULES,
    config::RULES,
];

pub(crate) use config::programs;

/// Every rule, group by group.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.iter().copied())
}

pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// Rule names similar to this one, best match first.
pub fn suggest(name: &str) -> Vec<&'static str> {
    let mut near: Vec<_> = all()
        .map(|rule| (strsim::jaro_winkler(rule.name, name), rule.name))
        .filter(|(near, _)| *near > 0.8)
        .collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Skips a rule about a variant of a list request if the plain one fails already.
fn plain_fails(case: &Case<'_>) -> Result<(), Skip> {
    let Some(list) = List::ALL.into_iter().find(|list| case.capability(list.capability()).is_some()) else {
        return Ok(());
    };
    let works = case.asked(list.step()).any(|page| page.result().is_some());
    let why = || Skip::not_verified(format!("a plain `{}` fails as well", list.method()));
    if works { Ok(()) } else { Err(why()) }
}

/// Every attempt to read a listed resource.
fn resource_reads<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    if case.list(List::Resources)?.is_empty() {
        return Err(Skip::not_applicable("the list of resources is empty"));
    }
    case.all(&RESOURCE_READS, RESOURCE_READ_STEP)
}

/// All listed resources and templates. The list of templates is optional.
fn resources_and_templates<'a>(case: &Case<'a>) -> Result<Vec<Item<'a>>, Skip> {
    let mut items = case.list(List::Resources)?;
    items.extend(case.list(List::Templates).unwrap_or_default());
    Ok(items)
}

/// Every attempt to get a listed prompt.
fn prompt_gets<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    if case.list(List::Prompts)?.is_empty() {
        return Err(Skip::not_applicable("the list of prompts is empty"));
    }
    case.all(&PROMPT_GETS, PROMPT_GET_STEP)
}
