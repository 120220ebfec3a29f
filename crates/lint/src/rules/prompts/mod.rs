//! Rules of the group `prompts`.

rules![];
