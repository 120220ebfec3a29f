//! Parked calls: a tool asked a question, and the call waits until its client calls again with the
//! answers.
//!
//! The client gets a signed `requestState` to send back. The state is bound to the caller and the
//! call, works once, and expires.

use super::{
    digest::digest,
    seal::{Seal, unguessable},
};
use parking_lot::{Mutex, MutexGuard};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{Fault, FaultKind, Object, Question, Raw, Reply, method};

pub(crate) struct Parking {
    seal: Seal,
    entries: Mutex<HashMap<String, ParkedEntry>>,
    most: usize,
    keep: Duration,
}

struct ParkedEntry {
    call: ParkedCall,
    until: Instant,
}

/// A call and its open questions by key.
pub(crate) struct ParkedCall {
    pub(super) reply: Reply,
    pub(super) questions: Vec<(String, Question)>,
}

/// The caller and the call that a state is bound to.
pub(super) struct CallKey<'a> {
    pub(super) caller: &'a str,
    pub(super) method: &'a str,
    pub(super) params: &'a Object,
}

impl Parking {
    pub(crate) fn new(most: usize, keep: Duration) -> Self {
        Self { seal: Seal::new(), entries: Mutex::default(), most, keep }
    }

    /// The number of parked calls.
    pub(crate) fn len(&self) -> usize {
        self.entries().len()
    }

    /// Drops expired calls. Dropping a question declines it.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let expired: Vec<ParkedEntry> =
            self.entries().extract_if(|_, entry| entry.until <= now).map(|(_, entry)| entry).collect();
        // Dropped outside the lock: dropping a reply cancels it, which may take a while.
        drop(expired);
    }

    /// Parks a call and returns the state that resumes it.
    pub(super) fn park(&self, call: ParkedCall, call_key: &CallKey<'_>) -> Result<String, Fault> {
        self.sweep();
        let mut entries = self.entries();
        if entries.len() >= self.most {
            let fault = format!(
                "no more calls may wait for an answer from their client (limit {}); try again later",
                self.most
            );
            return Err(Fault::new(FaultKind::Overloaded, fault));
        }
        let name = unguessable();
        entries.insert(name.clone(), ParkedEntry { call, until: Instant::now() + self.keep });
        Ok(self.seal.close(&name, &call_key.digest()))
    }

    /// Resumes a call. `None` if the state was not made here: it may belong to the handler or to
    /// an upstream.
    pub(super) fn take(&self, state: &str, call_key: &CallKey<'_>) -> Result<Option<ParkedCall>, Fault> {
        if !self.seal.is_ours(state) {
            return Ok(None);
        }
        let unusable = || {
            let fault = "`requestState` is not one that was given for this call";
            Fault::new(FaultKind::InvalidRequest, fault)
        };
        let name = self.seal.open(state, &call_key.digest()).ok_or_else(unusable)?;
        let entry = self.entries().remove(name).filter(|entry| entry.until > Instant::now());
        let expired = || {
            Fault::new(FaultKind::InvalidRequest, "`requestState` has expired or was used before; call again")
        };
        entry.map(|entry| Some(entry.call)).ok_or_else(expired)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<String, ParkedEntry>> {
        self.entries.lock()
    }
}

impl ParkedCall {
    /// Answers questions. Those without an answer stay open; unknown answers are ignored.
    pub(super) fn answer(&mut self, answers: &Object) {
        let open = std::mem::take(&mut self.questions);
        for (key, question) in open {
            match answers.get(&key) {
                Some(answer) => question.answer(Ok(answer.clone())),
                None => self.questions.push((key, question)),
            }
        }
    }

    /// The open questions, as `inputRequests` of a result.
    pub(super) fn requests(&self) -> Raw {
        let requests: Object = self
            .questions
            .iter()
            .map(|(key, question)| {
                let mut request = Object::new();
                request.set("method", Raw::string(&question.method));
                if let Some(params) = &question.params {
                    request.set("params", lifted(&question.method, params));
                }
                (key.clone(), request.to_raw())
            })
            .collect();
        requests.to_raw()
    }
}

/// Removes `elicitationId`, which the modern era does not have.
fn lifted(name: &str, params: &Raw) -> Raw {
    let Some(mut members) = params.object().filter(|_| name == method::ELICIT) else { return params.clone() };
    members.remove("elicitationId");
    members.to_raw()
}

impl CallKey<'_> {
    fn digest(&self) -> Vec<u8> {
        digest(self.caller, self.method, self.params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> ParkedCall {
        ParkedCall { reply: Reply::ready(Ok(Raw::null())), questions: Vec::new() }
    }

    fn call_key<'a>(caller: &'a str, params: &'a Object) -> CallKey<'a> {
        CallKey { caller, method: "tools/call", params }
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_opens_once_for_its_caller_and_call_and_in_time() {
        let parking = Parking::new(2, Duration::from_mins(1));
        let mut params = Object::new();
        params.set("name", Raw::string("t"));
        let state = parking.park(call(), &call_key("alice", &params)).unwrap();
        assert!(parking.take(&state, &call_key("bob", &params)).is_err());
        let mut other = params.clone();
        other.set("name", Raw::string("u"));
        assert!(parking.take(&state, &call_key("alice", &other)).is_err());
        params.set("inputResponses", Raw::empty_object());
        params.set("requestState", Raw::string(&state));
        assert!(parking.take(&state, &call_key("alice", &params)).unwrap().is_some());
        assert!(parking.take(&state, &call_key("alice", &params)).is_err());
        let late = parking.park(call(), &call_key("alice", &params)).unwrap();
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(parking.take(&late, &call_key("alice", &params)).is_err());
        assert!(parking.take("somebody else's", &call_key("alice", &params)).unwrap().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_room_for_so_many_and_time_makes_room() {
        let parking = Parking::new(1, Duration::from_mins(1));
        let params = Object::new();
        parking.park(call(), &call_key("a", &params)).unwrap();
        assert_eq!(parking.park(call(), &call_key("a", &params)).unwrap_err().kind(), FaultKind::Overloaded);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(parking.park(call(), &call_key("a", &params)).is_ok());
        assert_eq!(parking.len(), 1);
    }
}
