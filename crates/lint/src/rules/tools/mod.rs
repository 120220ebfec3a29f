//! Rules of the group `tools`.

mod annotation_types;
mod argument_error_hint;
mod arguments_checked;
mod arguments_optional;
mod fuzzed_arguments;
mod header_parameters;
mod hints_contradict;
mod host_limits;
mod mutating_hints;
mod output_schema_object;
mod remote_references;
mod required_exists;
mod schema_contradictions;
mod schema_cost;
mod schema_depth;
mod schema_recursion;
mod schema_type_lists;
mod secret_parameters;
mod structured_content;
mod structured_text;
mod tool_call_works;
mod tool_enum_values;
mod tool_input_schema;
mod tool_list_empty;
mod tool_member_types;
mod tool_name_characters;
mod tool_names_unique;
mod tool_order_stable;
mod tool_parameter_names;
mod tool_references_resolve;
mod tool_result_content;
mod tool_result_members;
mod tool_schema_dialect;
mod tool_schema_valid;
mod tools_per_connection;
mod unknown_tool_code;
mod unknown_tool_refused;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &annotation_types::RULE,
    &argument_error_hint::RULE,
    &arguments_checked::RULE,
    &arguments_optional::RULE,
    &fuzzed_arguments::RULE,
    &header_parameters::RULE,
    &hints_contradict::RULE,
    &host_limits::RULE,
    &mutating_hints::RULE,
    &output_schema_object::RULE,
    &remote_references::RULE,
    &required_exists::RULE,
    &schema_contradictions::RULE,
    &schema_cost::RULE,
    &schema_depth::RULE,
    &schema_recursion::RULE,
    &schema_type_lists::RULE,
    &secret_parameters::RULE,
    &structured_content::RULE,
    &structured_text::RULE,
    &tool_call_works::RULE,
    &tool_enum_values::RULE,
    &tool_input_schema::RULE,
    &tool_list_empty::RULE,
    &tool_member_types::RULE,
    &tool_name_characters::RULE,
    &tool_names_unique::RULE,
    &tool_order_stable::RULE,
    &tool_parameter_names::RULE,
    &tool_references_resolve::RULE,
    &tool_result_content::RULE,
    &tool_result_members::RULE,
    &tool_schema_dialect::RULE,
    &tool_schema_valid::RULE,
    &tools_per_connection::RULE,
    &unknown_tool_code::RULE,
    &unknown_tool_refused::RULE,
];
