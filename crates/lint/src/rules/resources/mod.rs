//! Rules of the group `resources`.

mod file_uri_form;
mod resource_annotations;
mod resource_bytes_fit;
mod resource_contents;
mod resource_contents_empty;
mod resource_contents_uri;
mod resource_media_form;
mod resource_member_types;
mod resource_names_differ;
mod resource_readable;
mod resource_size_form;
mod resource_type;
mod resource_unique;
mod resource_uri;
mod resource_uri_characters;
mod template_scheme;
mod template_syntax;
mod templates_unique;
mod unknown_resource;

use super::resource_reads;
use crate::{
    evidence::{Asked, Case, Item},
    outcome::Skip,
    rule::Rule,
};
use std::collections::BTreeSet;

pub(super) static RULES: &[&Rule] = &[
    &file_uri_form::RULE,
    &resource_annotations::RULE,
    &resource_bytes_fit::RULE,
    &resource_contents::RULE,
    &resource_contents_empty::RULE,
    &resource_contents_uri::RULE,
    &resource_media_form::RULE,
    &resource_member_types::RULE,
    &resource_names_differ::RULE,
    &resource_readable::RULE,
    &resource_size_form::RULE,
    &resource_type::RULE,
    &resource_unique::RULE,
    &resource_uri::RULE,
    &resource_uri_characters::RULE,
    &template_scheme::RULE,
    &template_syntax::RULE,
    &templates_unique::RULE,
    &unknown_resource::RULE,
];

/// The reads of listed resources that gave a result; at least one.
fn read<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    let mut read = resource_reads(case)?;
    read.retain(|asked| asked.result().is_some());
    if read.is_empty() { Err(Skip::not_verified("no resource could be read")) } else { Ok(read) }
}

/// The items that have the same value of a member as an earlier one, with that value.
fn repeated<'a>(items: Vec<Item<'a>>, member: &str) -> impl Iterator<Item = (Item<'a>, &'a str)> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter_map(move |item| {
        let value = item.text(member)?;
        (!seen.insert(value)).then_some((item, value))
    })
}
