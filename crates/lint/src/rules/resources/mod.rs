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

use crate::rule::Rule;

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
