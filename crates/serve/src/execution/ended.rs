//! Stores the end of an execution.

use super::{
    Executions, Happened, encoded, end_key,
    quota::{Allowance, NotCounted},
    record::{End, Record, State},
};
use bytes::Bytes;
use std::time::Duration;
use tracing::error;
use trunkline_protocol::{Fault, FaultKind, Outcome};
use trunkline_store::{Condition, MAX_VALUE, StoreError};

/// Pause before a failed operation on the store is repeated, and number of repeats of those that
/// must not be lost.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
const MAX_REPEATS: usize = 300;

/// An end that fits into the store and into the quota of its owner.
pub(super) struct Ended {
    pub(super) bytes: Bytes,
    pub(super) state: State,
}

impl Ended {
    /// A result that cannot be kept is replaced by an error that says that the tool has run.
    pub(super) async fn new(
        (outcome, state): (&Outcome, State),
        took: Duration,
        allowance: &mut Allowance,
    ) -> Self {
        let bytes = encoded(&End::new(outcome, took));
        let given = bytes.len();
        if given > MAX_VALUE {
            return Self::not_kept(&format!("result of {given} bytes is too large to keep"), took);
        }
        // Without the store there is nothing to count; `conclude` waits for it.
        match allowance.take(given).await {
            Err(NotCounted::Over(over)) => {
                Self::not_kept(&format!("result of {given} bytes is not kept: {over}"), took)
            }
            Ok(()) | Err(NotCounted::Store(_)) => Self { bytes, state },
        }
    }

    fn not_kept(why: &str, took: Duration) -> Self {
        let text = format!("the tool has run, but its {why}");
        let fault = Fault::new(FaultKind::TooLarge, text).harmful_to_repeat();
        Self { bytes: encoded(&End::new(&Err(fault), took)), state: State::Failed }
    }
}

impl Executions {
    /// Stores the end of an execution of this process, and waits for a store that fails.
    pub(super) async fn conclude(&self, id: &str, ended: &Ended, audit: &[String]) {
        for attempt in 0..MAX_REPEATS {
            let Err(error) = self.finish(id, ended, audit).await else { return };
            error!(%error, attempt, "the end of an execution cannot be stored yet");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Stores the end, then the state, then tells the followers. Each step may be repeated.
    async fn finish(&self, id: &str, ended: &Ended, audit: &[String]) -> Result<(), StoreError> {
        let kept = Some(self.retention + PAUSE * 60);
        self.store.put(&end_key(id), ended.bytes.clone(), Condition::Always, kept).await?;
        let change = |record: &mut Record| {
            record.state = ended.state;
            record.questions.clear();
            record.audit = audit.to_vec();
        };
        self.update(id, change).await?;
        self.append(id, &Happened::End).await.map(drop)
    }
}
