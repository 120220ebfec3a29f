//! The progress of work that has steps: drawn on a terminal, and nowhere else.

use super::Screen;
use crate::render::safe;
use indicatif::{ProgressBar, ProgressStyle};
use std::{sync::Arc, time::Duration};

const TICK: Duration = Duration::from_millis(100);

/// Work under way. Dropping it takes the bar away.
#[derive(Debug)]
pub(crate) struct Steps {
    screen: Arc<Screen>,
    bar: Option<ProgressBar>,
}

/// Tells how far the work is, from wherever it is done.
#[derive(Debug, Clone)]
pub(crate) struct Teller(Option<ProgressBar>);

impl Steps {
    pub(crate) fn start(screen: &Arc<Screen>, what: &str) -> Self {
        let bar = screen.shows_progress().then(|| {
            let bar = ProgressBar::new(1);
            bar.set_style(style("{spinner} {elapsed} {wide_msg}"));
            bar.set_message(safe::line(what));
            bar.enable_steady_tick(TICK);
            bar
        });
        screen.set_bar(bar.clone());
        Self { screen: screen.clone(), bar }
    }

    pub(crate) fn teller(&self) -> Teller {
        Teller(self.bar.clone())
    }
}

impl Teller {
    /// Says what is done now, and which step of how many it is.
    pub(crate) fn say(&self, what: &str, step: Option<(usize, usize)>) {
        let Some(bar) = &self.0 else { return };
        bar.set_message(safe::line(what));
        if let Some((done, total)) = step {
            bar.set_style(style("{spinner} {bar:30} {pos}/{len} {wide_msg}"));
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            self.screen.set_bar(None);
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are ours and valid")
}
