//! Results: keeps texts that are too long for one answer, so that the caller can read the rest.

use parking_lot::{Mutex, MutexGuard};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{
    Caller,
    message::{
        CallToolResult, TextContents,
        truncated::{PartOf, TooLong, offset_uri, read_offset},
    },
};

/// URI prefix of a kept text.
pub(super) const SCHEME: &str = "trunkline://result/";
/// Time to live of a kept text.
const KEPT_FOR: Duration = Duration::from_mins(15);
/// Most bytes of all kept texts; the oldest are removed.
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;

/// The kept texts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Results {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    uri: String,
    owner: String,
    text: Arc<str>,
    step: usize,
    since: Instant,
}

impl Results {
    /// Cuts the texts of a result to the budget, and keeps the whole text for its caller.
    pub(super) fn fit(&self, result: &mut CallToolResult, caller: &Caller, budget: usize) {
        let Some(long) = TooLong::of(result, budget) else { return };
        let rest = self.keep(&long, caller, budget);
        long.cut(result, rest.as_deref());
    }

    /// The URI of the rest; `None` if the text is too long to be kept.
    fn keep(&self, long: &TooLong, caller: &Caller, budget: usize) -> Option<String> {
        let text = long.whole();
        if text.len() > MAX_KEPT_BYTES / 2 {
            return None;
        }
        let uri = format!("{SCHEME}{}", unguessable());
        let kept = Kept {
            uri: uri.clone(),
            owner: caller.id.clone(),
            text: text.into(),
            step: budget,
            since: Instant::now(),
        };
        let mut all = self.fresh();
        all.push_back(kept);
        while all.iter().map(|kept| kept.text.len()).sum::<usize>() > MAX_KEPT_BYTES {
            all.pop_front();
        }
        Some(offset_uri(&uri, long.shown()))
    }

    /// A part of a kept text; `None` if this caller has no such text.
    pub(super) fn read(&self, uri: &str, caller: &Caller) -> Option<TextContents> {
        let (uri, offset) = read_offset(uri)?;
        let (text, step) = {
            let all = self.fresh();
            let kept = all.iter().find(|kept| kept.uri == uri && kept.owner == caller.id)?;
            (Arc::clone(&kept.text), kept.step)
        };
        PartOf { text: &text, uri, offset, step }.read()
    }

    fn fresh(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        let mut all = self.kept.lock();
        while all.front().is_some_and(|kept| kept.since.elapsed() > KEPT_FOR) {
            all.pop_front();
        }
        all
    }
}

/// An id of 122 bits from a cryptographic random generator.
pub(super) fn unguessable() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
