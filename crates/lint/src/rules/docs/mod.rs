//! Rules of the group `docs`.

rules![tool_description];
