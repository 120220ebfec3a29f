//! The progress bar's lifetime: shown while work is in progress.

use super::{Screen, drawing::Drawing};
use crate::render::safe;
use std::sync::Arc;

/// A progress bar, drawn only on a terminal. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Bar {
    screen: Arc<Screen>,
    drawn: Option<Drawing>,
}

impl Bar {
    pub(super) fn start(screen: &Arc<Screen>, what: &str) -> Self {
        let drawn = screen.shows_progress().then(|| Drawing::start(safe::line(&screen.hide(what))));
        screen.set_bar(drawn.clone());
        Self { screen: screen.clone(), drawn }
    }

    pub(super) fn drawn(&self) -> Option<&Drawing> {
        self.drawn.as_ref()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.drawn.take() {
            self.screen.set_bar(None);
            bar.end();
        }
    }
}
