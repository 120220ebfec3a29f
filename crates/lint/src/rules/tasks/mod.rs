//! Rules of the group `tasks`.

rules![
    tasks_declared,
];
