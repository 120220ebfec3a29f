//! Rules of the group `stdio`.

mod buffered_output;
mod children_left;
mod leaves_at_eof;
mod line_endings;
mod mid_session_exit;
mod one_line_messages;
mod second_process;
mod stdout_noise;
mod utf8_output;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &buffered_output::RULE,
    &children_left::RULE,
    &leaves_at_eof::RULE,
    &line_endings::RULE,
    &mid_session_exit::RULE,
    &one_line_messages::RULE,
    &second_process::RULE,
    &stdout_noise::RULE,
    &utf8_output::RULE,
];
