//! Rules of the group `context`.

rules![
    catalogue_size,
    description_length,
    enum_size,
    indented_description,
    instructions_size,
    list_tool_limit,
    output_schema_size,
    parameter_count,
    prompt_size,
    repeated_text,
    resource_read_size,
    result_size,
    tool_list_size,
    tool_size,
];
