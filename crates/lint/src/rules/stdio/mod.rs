//! Rules of the group `stdio`.

rules![
    buffered_output,
    children_left,
    leaves_at_eof,
    mid_session_exit,
    one_line_messages,
    stdout_noise,
    utf8_output,
];
