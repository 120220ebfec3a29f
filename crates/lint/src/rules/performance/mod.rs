//! Rules of the group `performance`.

rules![
    call_time,
    list_time,
    message_size,
    page_size,
    read_time,
    requests_in_parallel,
    start_time,
];
