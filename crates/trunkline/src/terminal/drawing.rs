//! The progress line at the bottom of the terminal. A dedicated thread redraws it, so that it
//! moves even while the runtime is busy.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::{
    io::{self, Write},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

const TICK: Duration = Duration::from_millis(100);
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const BAR: usize = 30;

/// Back to the first column, and erase the line.
const CLEAR_LINE: &str = "\r\x1b[2K";

/// Handle of the progress line; clones share the same line.
#[derive(Debug, Clone)]
pub(super) struct Drawing(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    picture: Mutex<Picture>,
    ended: Condvar,
}

/// The content of the progress line.
#[derive(Debug)]
struct Picture {
    what: String,
    extent: Extent,
    began: Instant,
    turn: usize,
    place: Place,
}

/// Progress of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Unknown,
    Percent(usize),
    Steps { done: usize, of: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Shown,
    Hidden,
    Over,
}

impl Drawing {
    /// Starts drawing on standard error.
    pub(super) fn start(what: String) -> Self {
        let picture =
            Picture { what, extent: Extent::Unknown, began: Instant::now(), turn: 0, place: Place::Shown };
        // Draw immediately, so that even short work is shown.
        picture.draw();
        let shared = Arc::new(Shared { picture: Mutex::new(picture), ended: Condvar::new() });
        let drawn = Arc::clone(&shared);
        let thread = thread::Builder::new().name("drawing".to_owned()).spawn(move || drawn.run());
        if let Err(error) = thread {
            tracing::debug!(%error, "the progress line cannot be drawn");
        }
        Self(shared)
    }

    pub(super) fn say(&self, what: String) {
        self.0.picture().what = what;
    }

    pub(super) fn reach(&self, extent: Extent) {
        self.0.picture().extent = extent;
    }

    /// Runs `act` while the line is cleared and drawing is suspended.
    pub(super) fn suspend<T>(&self, act: impl FnOnce() -> T) -> T {
        let picture = self.0.picture();
        picture.clear();
        let done = act();
        picture.draw();
        done
    }

    /// Clears the line and stops drawing until `show`.
    pub(super) fn hide(&self) {
        self.0.go_to(Place::Hidden);
    }

    pub(super) fn show(&self) {
        self.0.go_to(Place::Shown);
    }

    pub(super) fn end(&self) {
        self.0.go_to(Place::Over);
        self.0.ended.notify_one();
    }
}

impl Shared {
    fn run(&self) {
        let mut picture = self.picture();
        while picture.place != Place::Over {
            picture.turn += 1;
            picture.draw();
            self.ended.wait_for(&mut picture, TICK);
        }
    }

    fn go_to(&self, place: Place) {
        let mut picture = self.picture();
        if picture.place != Place::Over {
            picture.clear();
            picture.place = place;
        }
    }

    fn picture(&self) -> MutexGuard<'_, Picture> {
        self.picture.lock()
    }
}

impl Picture {
    fn draw(&self) {
        if self.place == Place::Shown {
            let columns =
                terminal_size_of(io::stderr()).map_or(80, |(Width(columns), _)| usize::from(columns));
            tell(&format!("{CLEAR_LINE}{}", self.line(columns)));
        }
    }

    fn clear(&self) {
        if self.place == Place::Shown {
            tell(CLEAR_LINE);
        }
    }

    fn line(&self, columns: usize) -> String {
        let extent = match self.extent {
            Extent::Unknown => format!("{}s", self.began.elapsed().as_secs()),
            Extent::Percent(share) => format!("{} {share:>3}%", bar(share, 100)),
            Extent::Steps { done, of } => format!("{} {done}/{of}", bar(done, of)),
        };
        let line = format!("{} {extent} {}", SPINNER[self.turn % SPINNER.len()], self.what);
        // The last column stays free, because some terminals wrap after filling it.
        cut(&line, columns.saturating_sub(1)).to_owned()
    }
}

fn bar(done: usize, of: usize) -> String {
    let full = (BAR * done.min(of)).checked_div(of).unwrap_or(0);
    format!("{}{}", "█".repeat(full), "░".repeat(BAR - full))
}

/// Truncates the text to this many columns.
fn cut(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > columns
    });
    end.map_or(text, |(at, _)| &text[..at])
}

fn tell(text: &str) {
    // If writing to stderr fails, there is no one to report it to.
    io::stderr().write_all(text.as_bytes()).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(what: &str, extent: Extent, columns: usize) -> String {
        let began = Instant::now();
        Picture { what: what.to_owned(), extent, began, turn: 1, place: Place::Hidden }.line(columns)
    }

    #[test]
    fn the_line_shows_how_far_it_is_and_fits() {
        let (full, half) = ("█".repeat(30), format!("{}{}", "█".repeat(15), "░".repeat(15)));
        assert_eq!(line("connecting", Extent::Unknown, 80), "⠙ 0s connecting");
        assert_eq!(line("half", Extent::Percent(50), 80), format!("⠙ {half}  50% half"));
        assert_eq!(line("all", Extent::Steps { done: 9, of: 3 }, 80), format!("⠙ {full} 9/3 all"));
        assert_eq!(line("", Extent::Steps { done: 0, of: 0 }, 80), format!("⠙ {} 0/0 ", "░".repeat(30)));
        assert_eq!(line("connecting", Extent::Unknown, 9), "⠙ 0s con");
        assert_eq!(line("漢字", Extent::Unknown, 9), "⠙ 0s 漢", "a wide letter is not halved");
        assert_eq!(line("connecting", Extent::Unknown, 0), "");
    }

    #[test]
    fn what_is_over_stays_over() {
        let drawing = Drawing::start("quiet".to_owned());
        drawing.hide();
        drawing.end();
        drawing.show();
        assert_eq!(drawing.0.picture().place, Place::Over);
        assert_eq!(drawing.suspend(|| 7), 7);
    }
}
