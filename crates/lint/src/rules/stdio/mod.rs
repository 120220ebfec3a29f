//! Rules of the group `stdio`.

rules![
    buffered_output,
    leaves_at_eof,
    mid_session_exit,
    one_line_messages,
    stdout_noise,
    utf8_output,
];
