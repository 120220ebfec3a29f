//! Rules of the group `docs`.

rules![
    argument_styles,
    confusable_tools,
    parameter_description,
    tool_description,
    tool_title,
];
