//! Rules of the group `config`.

rules![];
