//! The progress bar of one call, drawn only on a terminal.

use super::{Screen, bar::Bar, drawing::Extent};
use crate::render::safe;
use std::sync::Arc;
use trunkline_protocol::message::ProgressParams;

/// A call in progress. Dropping it removes the bar.
#[derive(Debug)]
pub(crate) struct Progress(Bar);

impl Progress {
    /// Shows a spinner until there is progress to show.
    pub(crate) fn start(screen: &Arc<Screen>, what: &str) -> Self {
        Self(Bar::start(screen, what))
    }

    pub(crate) fn show(&self, params: &ProgressParams) {
        let Some(bar) = self.0.drawn() else { return };
        bar.say(message(params));
        if let Some(share) = percent(params) {
            bar.reach(Extent::Percent(share));
        }
    }
}

fn message(params: &ProgressParams) -> String {
    let total = params.total.as_ref().map(|total| format!("/{total}")).unwrap_or_default();
    let text = params.message.as_deref().map(|text| format!(" {}", safe::line(text))).unwrap_or_default();
    format!("{}{total}{text}", params.progress)
}

/// Progress in percent; `None` if the total is unknown.
fn percent(params: &ProgressParams) -> Option<usize> {
    let share = params.progress.as_f64() / params.total.as_ref()?.as_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the share is cut to 0..=1 first"
    )]
    share.is_finite().then(|| (share.clamp(0.0, 1.0) * 100.0) as usize)
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
            (r#"{"progressToken":1,"progress":1,"total":4}"#, Some(25)),
            (r#"{"progressToken":1,"progress":0.5,"total":0.5}"#, Some(100)),
            (r#"{"progressToken":1,"progress":9,"total":3}"#, Some(100)),
            (r#"{"progressToken":1,"progress":9,"total":0}"#, None),
            (r#"{"progressToken":1,"progress":9}"#, None),
        ] {
            assert_eq!(percent(&params(text)), want, "{text}");
        }
    }

    #[test]
    fn the_message_is_one_harmless_line() {
        let text = r#"{"progressToken":1,"progress":1,"total":4,"message":"a\nb\u001b[2J"}"#;
        assert_eq!(message(&params(text)), "1/4 a b␛[2J");
    }
}
