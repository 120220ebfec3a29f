//! Rules of the group `tools`.

rules![tool_input_schema, tool_names_unique];
