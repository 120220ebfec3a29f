//! Reads the events of an execution, starting after any event.

use super::{Executions, decoded, event_log, record::Record};
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout, timeout_at};
use trunkline_protocol::Raw;
use trunkline_store::StoreError;

/// Events that are read at once.
const PAGE: usize = 256;
/// Interval in which a follower looks whether the process that runs the execution is alive.
const CHECK: Duration = Duration::from_secs(2);

/// An event of an execution.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "event", content = "data")]
pub(crate) enum Happened {
    State(Raw),
    Progress(Raw),
    Partial(Raw),
    Message(Raw),
    Question(Raw),
    /// Later events before the end are not kept.
    Truncated(Raw),
    /// The execution has ended; its result is stored under a key of its own.
    End,
}

/// Follows the events of one execution.
pub(crate) struct Follower {
    executions: Arc<Executions>,
    id: String,
    /// Number of the last event that was returned.
    after: u64,
    read: VecDeque<(u64, Happened)>,
    is_over: bool,
}

impl Follower {
    /// `None` if there is nothing after this event: the execution has ended, and the caller knows.
    pub(crate) async fn new(
        executions: &Arc<Executions>,
        id: &str,
        after: u64,
    ) -> Result<Option<Self>, StoreError> {
        if let Some(last) = after.checked_sub(1) {
            let known = executions.store.events(&event_log(id), last, 1).await?;
            let known = known.first().and_then(|event| decoded(&event.bytes));
            if matches!(known, Some(Happened::End)) {
                return Ok(None);
            }
        }
        let (executions, id) = (executions.clone(), id.to_owned());
        Ok(Some(Self { executions, id, after, read: VecDeque::new(), is_over: false }))
    }

    /// The next event and its number; `None` after the end.
    pub(crate) async fn next(&mut self) -> Result<Option<(u64, Happened)>, StoreError> {
        while !self.is_over {
            if let Some((number, event)) = self.read.pop_front() {
                self.after = number;
                self.is_over = matches!(event, Happened::End);
                return Ok(Some((number, event)));
            }
            self.read_more().await?;
            if self.read.is_empty() {
                self.wait().await?;
            }
        }
        Ok(None)
    }

    async fn read_more(&mut self) -> Result<(), StoreError> {
        let events = self.executions.store.events(&event_log(&self.id), self.after, PAGE).await?;
        let read = events.iter().filter_map(|event| Some((event.number, decoded(&event.bytes)?)));
        self.read.extend(read);
        Ok(())
    }

    /// Waits for another event. An execution that has ended without one gets its last event here.
    async fn wait(&mut self) -> Result<(), StoreError> {
        let record = self.executions.read(&self.id).await?;
        if let Some(record) = &record {
            self.executions.look(record).await?;
        }
        if record.is_none_or(|record| record.state.is_final()) {
            // All events of a run are written before its final state.
            self.read_more().await?;
            if self.read.is_empty() {
                self.read.push_back((self.after + 1, Happened::End));
            }
            return Ok(());
        }
        let log = event_log(&self.id);
        match timeout(CHECK, self.executions.store.appended(&log, self.after)).await {
            Ok(appended) => appended,
            Err(_) => Ok(()),
        }
    }
}

impl Executions {
    /// Waits until `enough` is true for the record or the limit has passed. Returns the current
    /// record; `None` if it is no longer kept.
    pub(crate) async fn wait(
        &self,
        id: &str,
        limit: Duration,
        enough: impl Fn(&Record) -> bool,
    ) -> Result<Option<Record>, StoreError> {
        let until = Instant::now() + limit;
        let (log, mut after) = (event_log(id), 0);
        loop {
            // The number is read before the record, so that no change between the two is missed.
            loop {
                let events = self.store.events(&log, after, PAGE).await?;
                let Some(last) = events.last() else { break };
                after = last.number;
            }
            let Some(record) = self.read(id).await? else { return Ok(None) };
            if enough(&record) || Instant::now() >= until {
                return Ok(Some(record));
            }
            self.look(&record).await?;
            let check = until.min(Instant::now() + CHECK);
            if let Ok(appended) = timeout_at(check, self.store.appended(&log, after)).await {
                appended?;
            }
        }
    }

    /// The newest progress and the first parts of the result.
    pub(crate) async fn so_far(&self, id: &str, parts: usize) -> Result<(Option<Raw>, Vec<Raw>), StoreError> {
        let (mut after, mut progress, mut partial) = (0, None, Vec::new());
        loop {
            let events = self.store.events(&event_log(id), after, PAGE).await?;
            let Some(last) = events.last() else { return Ok((progress, partial)) };
            after = last.number;
            for event in &events {
                match decoded(&event.bytes) {
                    Some(Happened::Progress(newest)) => progress = Some(newest),
                    Some(Happened::Partial(part)) if partial.len() < parts => partial.push(part),
                    _ => {}
                }
            }
        }
    }
}
