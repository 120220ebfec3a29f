//! Rules of the group `http`.

rules![foreign_origin];
