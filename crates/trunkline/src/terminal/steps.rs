//! The progress bar of work with several steps, drawn only on a terminal.

use super::{
    Screen,
    bar::Bar,
    drawing::{Drawing, Extent},
};
use crate::render::safe;
use std::sync::Arc;

/// Work in progress. Dropping it removes the bar.
#[derive(Debug)]
pub(crate) struct Steps(Bar);

/// Reports progress; can be cloned and used from any task.
#[derive(Debug, Clone)]
pub(crate) struct Teller(Option<Drawing>);

impl Steps {
    pub(crate) fn start(screen: &Arc<Screen>, what: &str) -> Self {
        Self(Bar::start(screen, what))
    }

    pub(crate) fn teller(&self) -> Teller {
        Teller(self.0.drawn().cloned())
    }
}

impl Teller {
    /// Sets the current activity, and the step number and total.
    pub(crate) fn say(&self, what: &str, step: Option<(usize, usize)>) {
        let Some(bar) = &self.0 else { return };
        bar.say(safe::line(what));
        if let Some((done, of)) = step {
            bar.reach(Extent::Steps { done, of });
        }
    }
}
