//! Rules of the group `utilities`.

rules![cursor_refused];
