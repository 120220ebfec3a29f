//! Rules of the group `tools`.

rules![
    annotation_types,
    argument_error_hint,
    arguments_checked,
    fuzzed_arguments,
    header_parameters,
    host_limits,
    mutating_hints,
    output_schema_object,
    remote_references,
    required_exists,
    schema_contradictions,
    schema_depth,
    structured_content,
    tool_input_schema,
    tool_name_characters,
    tool_names_unique,
    tool_order_stable,
    tool_schema_valid,
    unknown_tool_code,
    unknown_tool_refused,
];
