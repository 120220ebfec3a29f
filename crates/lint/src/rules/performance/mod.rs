//! Rules of the group `performance`.

rules![
    call_time,
    cold_start,
    list_latency,
    message_size,
    page_size,
    read_time,
    requests_in_parallel,
];
