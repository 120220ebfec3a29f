//! Rules of the group `docs`.

rules![
    argument_styles,
    confusable_tools,
    icon_shape,
    icon_source,
    instructions_tools,
    naming_style,
    parameter_description,
    parameter_type,
    prompt_description,
    resource_description,
    server_instructions,
    server_version,
    server_website,
    title_form,
    tool_description,
    tool_title,
    vague_names,
    values_in_prose,
];
