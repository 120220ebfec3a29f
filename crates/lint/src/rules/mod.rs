//! The rules, by group. A group's `mod.rs` names each of its files once; everything else is derived from that.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all checks have one signature, also those that always have a verdict"
)]

use crate::rule::Rule;

/// Declares the files of a group as modules and makes the group's table of them.
macro_rules! rules {
    ($($file:ident),* $(,)?) => {
        $(mod $file;)*
        pub(super) static RULES: &[&crate::rule::Rule] = &[$(&$file::RULE),*];
    };
}

/// The same for the groups themselves.
macro_rules! groups {
    ($($group:ident),* $(,)?) => {
        $(mod $group;)*
        static GROUPS: &[&[&Rule]] = &[$($group::RULES),*];
    };
}

mod content;
mod icons;
mod schema;
mod words;

groups![
    lifecycle,
    json_rpc,
    stdio,
    http,
    tools,
    resources,
    prompts,
    utilities,
    tasks,
    auth,
    security,
    performance,
    context,
    docs,
    config,
];

pub(crate) use config::programs;

/// Every rule, group by group.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.iter().copied())
}

pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// Names that look like this one, best first.
pub fn suggest(name: &str) -> Vec<&'static str> {
    let mut near: Vec<_> = all()
        .map(|rule| (strsim::jaro_winkler(rule.name, name), rule.name))
        .filter(|(near, _)| *near > 0.8)
        .collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}
