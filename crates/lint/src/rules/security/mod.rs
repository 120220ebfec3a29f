//! Rules of the group `security`.

rules![];
