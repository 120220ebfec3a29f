//! Rules of the group `stdio`.

rules![leaves_at_eof, stdout_noise];
