//! Rules of the group `auth`.

rules![];
