//! Rules of the group `context`.

rules![tool_list_size];
