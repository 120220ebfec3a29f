//! Rules of the group `context`.

mod catalogue_size;
mod description_length;
mod enum_size;
mod indented_description;
mod instructions_size;
mod list_tool_limit;
mod output_schema_size;
mod parameter_count;
mod prompt_size;
mod repeated_text;
mod resource_read_size;
mod result_size;
mod tool_list_size;
mod tool_size;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &catalogue_size::RULE,
    &description_length::RULE,
    &enum_size::RULE,
    &indented_description::RULE,
    &instructions_size::RULE,
    &list_tool_limit::RULE,
    &output_schema_size::RULE,
    &parameter_count::RULE,
    &prompt_size::RULE,
    &repeated_text::RULE,
    &resource_read_size::RULE,
    &result_size::RULE,
    &tool_list_size::RULE,
    &tool_size::RULE,
];
