//! Rules of the group `tasks`.

rules![];
