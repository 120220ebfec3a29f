//! Rules of the group `performance`.

mod call_time;
mod cold_start;
mod list_latency;
mod message_size;
mod page_size;
mod read_time;
mod requests_in_parallel;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &call_time::RULE,
    &cold_start::RULE,
    &list_latency::RULE,
    &message_size::RULE,
    &page_size::RULE,
    &read_time::RULE,
    &requests_in_parallel::RULE,
];
