//! Rules of the group `tools`.

rules![
    argument_error_hint,
    arguments_checked,
    fuzzed_arguments,
    structured_content,
    tool_input_schema,
    tool_names_unique,
];
