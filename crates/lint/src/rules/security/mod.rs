//! Rules of the group `security`.

rules![
    definitions_stable,
];
