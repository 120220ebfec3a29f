//! Rules of the group `docs`.

mod argument_styles;
mod confusable_tools;
mod icon_shape;
mod icon_source;
mod instructions_tools;
mod naming_style;
mod parameter_description;
mod parameter_type;
mod prompt_description;
mod resource_description;
mod server_instructions;
mod server_version;
mod server_website;
mod title_form;
mod tool_description;
mod tool_title;
mod vague_names;
mod values_in_prose;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &argument_styles::RULE,
    &confusable_tools::RULE,
    &icon_shape::RULE,
    &icon_source::RULE,
    &instructions_tools::RULE,
    &naming_style::RULE,
    &parameter_description::RULE,
    &parameter_type::RULE,
    &prompt_description::RULE,
    &resource_description::RULE,
    &server_instructions::RULE,
    &server_version::RULE,
    &server_website::RULE,
    &title_form::RULE,
    &tool_description::RULE,
    &tool_title::RULE,
    &vague_names::RULE,
    &values_in_prose::RULE,
];
