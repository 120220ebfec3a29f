//! Rules of the group `context`.

rules![
    instructions_size,
    repeated_text,
    tool_list_size,
    tool_size,
];
