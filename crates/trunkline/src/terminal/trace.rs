//! `--trace`: prints every frame with its direction and the time since the start, but no HTTP
//! headers, which may hold secrets.

use super::Screen;
use crate::render::safe;
use anstyle::{AnsiColor, Style};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use trunkline_client::{Direction, FrameTap};

pub(crate) fn trace(screen: Arc<Screen>) -> FrameTap {
    let start = Instant::now();
    FrameTap::new(move |direction, frame| screen.tell_exactly(&line(direction, start.elapsed(), frame)))
}

fn line(direction: Direction, after: Duration, frame: &[u8]) -> String {
    let (arrow, color) = match direction {
        Direction::Sent => ("→", AnsiColor::Blue),
        Direction::Received => ("←", AnsiColor::Green),
        Direction::Noise => ("≁", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(color.into()));
    let text = String::from_utf8_lossy(frame);
    let text = if direction == Direction::Noise { safe::text(text.trim()) } else { safe::json(text.trim()) };
    format!("{style}{arrow} {:8.3}s{style:#} {text}\n", after.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_shown_with_direction_and_time() {
        let shown = |direction, frame: &[u8]| {
            anstream::adapter::strip_str(&line(direction, Duration::from_millis(1234), frame)).to_string()
        };
        assert_eq!(shown(Direction::Sent, b"{\"id\":1}\n"), "→    1.234s {\"id\":1}\n");
        assert_eq!(shown(Direction::Noise, b"hi\x1b[2J"), "≁    1.234s hi␛[2J\n");
    }
}
