//! Rules of the group `resources`.

rules![];
