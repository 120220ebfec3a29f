//! The progress bar of one call: drawn on a terminal, and nowhere else.

use super::Screen;
use crate::render::safe;
use indicatif::{ProgressBar, ProgressStyle};
use std::{sync::Arc, time::Duration};
use trunkline_protocol::message::ProgressParams;

/// Steps of the bar; the server's own numbers may be fractions.
const STEPS: u64 = 1000;
const TICK: Duration = Duration::from_millis(100);

/// Something under way. Dropping it takes the bar away.
#[derive(Debug)]
pub(crate) struct Progress {
    screen: Arc<Screen>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows that something is under way, by a spinner until there is progress to show.
    pub(crate) fn start(screen: &Arc<Screen>, what: &str) -> Self {
        let bar = screen.shows_progress().then(|| {
            let bar = ProgressBar::new(STEPS);
            bar.set_style(style("{spinner} {elapsed} {wide_msg}"));
            bar.set_message(safe::line(what));
            bar.enable_steady_tick(TICK);
            bar
        });
        screen.set_bar(bar.clone());
        Self { screen: screen.clone(), bar }
    }

    pub(crate) fn show(&self, params: &ProgressParams) {
        let Some(bar) = &self.bar else { return };
        bar.set_message(message(params));
        if let Some(position) = position(params) {
            bar.set_style(style("{spinner} {bar:30} {percent:>3}% {wide_msg}"));
            bar.set_position(position);
        }
    }
}

impl Drop for Progress {
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

fn message(params: &ProgressParams) -> String {
    let total = params.total.as_ref().map(|total| format!("/{total}")).unwrap_or_default();
    let text = params.message.as_deref().map(|text| format!(" {}", safe::line(text))).unwrap_or_default();
    format!("{}{total}{text}", params.progress)
}

/// How far the bar goes; `None` when the end is not known.
fn position(params: &ProgressParams) -> Option<u64> {
    let share = params.progress.as_f64() / params.total.as_ref()?.as_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the share is cut to 0..=1 first"
    )]
    share.is_finite().then(|| (share.clamp(0.0, 1.0) * STEPS as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> ProgressParams {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_share_is_kept_within_the_bar() {
        for (text, want) in [
            (r#"{"progressToken":1,"progress":1,"total":4}"#, Some(250)),
            (r#"{"progressToken":1,"progress":0.5,"total":0.5}"#, Some(1000)),
            (r#"{"progressToken":1,"progress":9,"total":3}"#, Some(1000)),
            (r#"{"progressToken":1,"progress":9,"total":0}"#, None),
            (r#"{"progressToken":1,"progress":9}"#, None),
        ] {
            assert_eq!(position(&params(text)), want, "{text}");
        }
    }

    #[test]
    fn the_message_is_one_harmless_line() {
        let text = r#"{"progressToken":1,"progress":1,"total":4,"message":"a\nb\u001b[2J"}"#;
        assert_eq!(message(&params(text)), "1/4 a b␛[2J");
    }
}
