//! What is drawn while something is under way: a spinner first, a bar as soon as it is known how far it is.

use super::Screen;
use crate::render::safe;
use indicatif::{ProgressBar, ProgressStyle};
use std::{sync::Arc, time::Duration};

const TICK: Duration = Duration::from_millis(100);

/// Drawn on a terminal, and nowhere else. Dropping it takes it away.
#[derive(Debug)]
pub(super) struct Bar {
    screen: Arc<Screen>,
    drawn: Option<ProgressBar>,
}

impl Bar {
    /// Shows that something of this many steps is under way.
    pub(super) fn start(screen: &Arc<Screen>, what: &str, steps: u64) -> Self {
        let drawn = screen.shows_progress().then(|| {
            let bar = ProgressBar::new(steps);
            bar.set_style(style("{spinner} {elapsed} {wide_msg}"));
            bar.set_message(safe::line(what));
            bar.enable_steady_tick(TICK);
            bar
        });
        screen.set_bar(drawn.clone());
        Self { screen: screen.clone(), drawn }
    }

    pub(super) fn drawn(&self) -> Option<&ProgressBar> {
        self.drawn.as_ref()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.drawn.take() {
            self.screen.set_bar(None);
            bar.finish_and_clear();
        }
    }
}

pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are ours and valid")
}
