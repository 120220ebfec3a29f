//! The progress bar of one call: drawn on a terminal, and nowhere else.

use super::{
    Screen,
    bar::{Bar, style},
};
use crate::render::safe;
use std::sync::Arc;
use trunkline_protocol::message::ProgressParams;

/// Steps of the bar; the server's own numbers may be fractions.
const STEPS: u64 = 1000;

/// Something under way. Dropping it takes the bar away.
#[derive(Debug)]
pub(crate) struct Progress(Bar);

impl Progress {
    /// Shows that something is under way, by a spinner until there is progress to show.
    pub(crate) fn start(screen: &Arc<Screen>, what: &str) -> Self {
        Self(Bar::start(screen, what, STEPS))
    }

    pub(crate) fn show(&self, params: &ProgressParams) {
        let Some(bar) = self.0.drawn() else { return };
        bar.set_message(message(params));
        if let Some(position) = position(params) {
            bar.set_style(style("{spinner} {bar:30} {percent:>3}% {wide_msg}"));
            bar.set_position(position);
        }
    }
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
