//! Rules of the group `performance`.

rules![
    cold_start,
    list_latency,
];
