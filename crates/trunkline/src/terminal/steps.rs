//! The progress of work that has steps: drawn on a terminal, and nowhere else.

use super::{
    Screen,
    bar::Bar,
    drawing::{Drawing, Extent},
};
use crate::render::safe;
use std::sync::Arc;

/// Work under way. Dropping it takes the bar away.
#[derive(Debug)]
pub(crate) struct Steps(Bar);

/// Tells how far the work is, from wherever it is done.
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
    /// Says what is done now, and which step of how many it is.
    pub(crate) fn say(&self, what: &str, step: Option<(usize, usize)>) {
        let Some(bar) = &self.0 else { return };
        bar.say(safe::line(what));
        if let Some((done, of)) = step {
            bar.reach(Extent::Steps { done, of });
        }
    }
}
