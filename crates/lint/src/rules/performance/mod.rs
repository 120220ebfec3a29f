//! Rules of the group `performance`.

rules![];
