//! Fetches all pages of every list that the server declares.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Settled},
    rule::Mode,
};
use serde_json::{Value, json};

/// Maximum number of pages per list; a longer list counts as endless.
pub(crate) const MAX_PAGES: usize = 50;

pub(crate) static LISTS: Probe = Probe::new("lists", Mode::Passive, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    stage.speaker.patience(stage.known.owed);
    for list in List::ALL {
        if !stage.known.has_capability(list.capability()) {
            continue;
        }
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let heard = stage.speaker.ask(list.step(), list.method(), params).await;
            if matches!(heard.settled, Settled::Silent(_)) {
                // The others may wait behind this one.
                stage.speaker.patience(stage.known.dial.answer);
            }
            let cursor = heard.result().and_then(|result| result.get("nextCursor"));
            let Some(Value::String(cursor)) = cursor else { break };
            params = json!({"cursor": cursor});
        }
    }
    stage.speaker.so_far(|line| stage.known.measure_lists(line));
    stage.speaker.patience(stage.known.patience());
}
