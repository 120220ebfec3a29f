//! The places of executions, and the queues for them: one per server.
//!
//! Priorities are weights, not strict: of seven places that become free while all priorities wait,
//! high gets four, normal two and low one, so that nothing starves. Callers of one priority take
//! turns, so that a caller with many executions does not delay the others. In a full queue, a
//! caller with few executions displaces the newest of the caller with most, so that none can keep
//! the others out.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc};
use tokio::sync::oneshot;
use trunkline_resilience::Turns;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

/// The order in which free places are offered to the priorities.
const TURNS: [Priority; 7] = [
    Priority::High,
    Priority::Normal,
    Priority::High,
    Priority::Low,
    Priority::High,
    Priority::Normal,
    Priority::High,
];

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// The queues of all servers behind the handler.
#[derive(Debug)]
pub(crate) struct ExecutionQueues {
    queues: Mutex<HashMap<String, Arc<ExecutionQueue>>>,
    max_running: usize,
    max_waiting: usize,
}

#[derive(Debug)]
pub(crate) struct ExecutionQueue {
    state: Mutex<QueueState>,
    max_running: usize,
    max_waiting: usize,
}

/// An execution that requests a slot.
#[derive(Debug, Clone)]
pub(crate) struct Applicant {
    /// Id of the execution.
    pub(crate) id: String,
    pub(crate) caller: String,
    pub(crate) priority: Priority,
}

#[derive(Debug, Default)]
struct QueueState {
    running: usize,
    /// By priority.
    waiting: [Turns<Waiting>; 3],
    turn: usize,
}

#[derive(Debug)]
struct Waiting {
    id: String,
    offer: oneshot::Sender<Slot>,
}

/// The slot of a running execution; dropping it hands the slot to the next in the queue.
#[derive(Debug)]
pub(crate) struct Slot(Option<Arc<ExecutionQueue>>);

impl ExecutionQueues {
    pub(crate) fn new(max_running: usize, max_waiting: usize) -> Arc<Self> {
        Arc::new(Self { queues: Mutex::default(), max_running, max_waiting })
    }

    /// The queue of a server; the empty name is that of a handler without servers.
    pub(crate) fn of(&self, server: &str) -> Arc<ExecutionQueue> {
        let mut queues = self.queues.lock();
        if let Some(queue) = queues.get(server) {
            return queue.clone();
        }
        let queue = ExecutionQueue::new(self.max_running, self.max_waiting);
        queues.insert(server.to_owned(), queue.clone());
        queue
    }

    /// The position of an execution that waits; 1 is next.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        let queues: Vec<_> = self.queues.lock().values().cloned().collect();
        queues.iter().find_map(|queue| queue.position(id))
    }
}

impl ExecutionQueue {
    fn new(max_running: usize, max_waiting: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), max_running, max_waiting })
    }

    /// A slot, or a receiver that gets one. Dropping the receiver leaves the queue.
    pub(crate) fn apply(
        self: &Arc<Self>,
        applicant: &Applicant,
    ) -> Result<Result<Slot, oneshot::Receiver<Slot>>, QueueFull> {
        let mut state = self.state.lock();
        if state.running < self.max_running {
            state.running += 1;
            return Ok(Ok(Slot(Some(self.clone()))));
        }
        state.forget_those_that_left();
        let is_full = state.waiting.iter().map(Turns::len).sum::<usize>() >= self.max_waiting;
        if is_full && !state.displace_for(&applicant.caller) {
            return Err(QueueFull);
        }
        let (offer, place) = oneshot::channel();
        let waiting = Waiting { id: applicant.id.clone(), offer };
        state.waiting[applicant.priority as usize].push(&applicant.caller, waiting);
        Ok(Err(place))
    }

    fn position(&self, id: &str) -> Option<usize> {
        let (mut lanes, mut turn) = {
            let mut state = self.state.lock();
            state.forget_those_that_left();
            let lanes = state.waiting.each_ref().map(|lane| lane.map(|waiting| waiting.id.clone()));
            (lanes, state.turn)
        };
        let mut order = std::iter::from_fn(|| next(&mut lanes, &mut turn));
        order.position(|waiting| waiting == id).map(|before| before + 1)
    }

    /// Gives a place that became free to the next that waits.
    fn pass_on(self: &Arc<Self>) {
        let mut slot = Slot(Some(self.clone()));
        loop {
            let next = {
                let mut state = self.state.lock();
                let QueueState { waiting, turn, running } = &mut *state;
                let next = next(waiting, turn);
                if next.is_none() {
                    *running -= 1;
                }
                next
            };
            let Some(next) = next else {
                // The place was given back above, and must not be given back again.
                slot.0 = None;
                return;
            };
            match next.offer.send(slot) {
                Ok(()) => return,
                // That one stopped waiting.
                Err(back) => slot = back,
            }
        }
    }
}

impl QueueState {
    fn forget_those_that_left(&mut self) {
        for lane in &mut self.waiting {
            lane.retain(|waiting| !waiting.offer.is_closed());
        }
    }

    /// Removes one that waits, if its caller has more than this one would have then. Its receiver
    /// is told by the end of its channel.
    fn displace_for(&mut self, caller: &str) -> bool {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for (waiting, count) in self.waiting.iter().flat_map(Turns::counts) {
            *counts.entry(waiting).or_default() += count;
        }
        let own = counts.get(caller).copied().unwrap_or_default();
        // The name decides between equals, so that the choice does not depend on the hash.
        let most = counts.into_iter().max_by_key(|(waiting, count)| (*count, *waiting));
        let Some((most, _)) = most.filter(|(_, count)| *count > own + 1) else { return false };
        let most = most.to_owned();
        // From the lowest priority up.
        self.waiting.iter_mut().any(|lane| lane.remove_newest(&most))
    }
}

/// Takes the next that gets a place.
fn next<T>(lanes: &mut [Turns<T>; 3], turn: &mut usize) -> Option<T> {
    for _ in 0..TURNS.len() {
        let priority = TURNS[*turn];
        *turn = (*turn + 1) % TURNS.len();
        if let Some(next) = lanes[priority as usize].pop() {
            return Some(next);
        }
    }
    None
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot::error::TryRecvError;

    fn applicant(id: &str, caller: &str, priority: Priority) -> Applicant {
        Applicant { id: id.to_owned(), caller: caller.to_owned(), priority }
    }

    fn queued(queue: &Arc<ExecutionQueue>, applicant: &Applicant) -> oneshot::Receiver<Slot> {
        queue.apply(applicant).unwrap().unwrap_err()
    }

    #[test]
    fn h6_places_are_bounded_and_free_again_when_dropped() {
        let queue = ExecutionQueue::new(1, 1);
        let one = applicant("1", "a", Priority::Normal);
        let first = queue.apply(&one).unwrap().unwrap();
        let mut second = queued(&queue, &one);
        assert_eq!(queue.apply(&one).unwrap_err(), QueueFull);
        drop(first);
        drop(second.try_recv().unwrap());
        assert!(queue.apply(&one).unwrap().is_ok());
    }

    #[test]
    fn l04_no_caller_keeps_the_others_out_of_a_full_queue() {
        let queue = ExecutionQueue::new(1, 4);
        let _running = queue.apply(&applicant("0", "hog", Priority::Normal)).unwrap().unwrap();
        let hog = |id: &str, priority| queue.apply(&applicant(id, "hog", priority));
        let mut waiting: Vec<_> = [Priority::High, Priority::High, Priority::Low, Priority::High]
            .into_iter()
            .map(|priority| hog("hog", priority).unwrap().unwrap_err())
            .collect();
        assert_eq!(hog("5", Priority::High).unwrap_err(), QueueFull);
        let _first = queued(&queue, &applicant("few1", "few", Priority::Low));
        assert!(waiting.remove(2).try_recv().is_err_and(|error| error == TryRecvError::Closed));
        let _second = queued(&queue, &applicant("few2", "few", Priority::Low));
        assert!(waiting.remove(2).try_recv().is_err_and(|error| error == TryRecvError::Closed));
        // Now both have two places.
        for caller in ["few", "hog"] {
            assert_eq!(queue.apply(&applicant("x", caller, Priority::High)).unwrap_err(), QueueFull);
        }
        let _other = queued(&queue, &applicant("other", "other", Priority::Normal));
        assert_eq!(waiting[0].try_recv().unwrap_err(), TryRecvError::Empty);
    }

    #[test]
    fn l04_one_that_left_the_queue_holds_no_place() {
        let queue = ExecutionQueue::new(1, 2);
        let first = queue.apply(&applicant("1", "a", Priority::Normal)).unwrap().unwrap();
        let left = queued(&queue, &applicant("2", "a", Priority::Normal));
        let mut stays = queued(&queue, &applicant("3", "a", Priority::Normal));
        drop(left);
        drop(first);
        assert!(stays.try_recv().is_ok());
    }

    /// The order in which all that wait get their places.
    fn order(queue: &Arc<ExecutionQueue>, applicants: &[Applicant]) -> Vec<String> {
        let first = queue.apply(&applicant("0", "a", Priority::Normal)).unwrap().unwrap();
        let mut waiting: Vec<_> = applicants.iter().map(|one| (one.id.clone(), queued(queue, one))).collect();
        let positions: Vec<_> = applicants.iter().map(|one| queue.position(&one.id).unwrap()).collect();
        let (mut slot, mut order) = (Some(first), Vec::new());
        while let Some(held) = slot.take() {
            drop(held);
            let served =
                waiting.iter_mut().find_map(|(id, place)| Some((id.clone(), place.try_recv().ok()?)));
            let Some((id, next)) = served else { break };
            waiting.retain(|(other, _)| *other != id);
            order.push(id);
            slot = Some(next);
        }
        for (one, position) in applicants.iter().zip(positions) {
            assert_eq!(order[position - 1], one.id, "{order:?}");
        }
        order
    }

    #[test]
    fn h6_priorities_are_weights_and_nothing_starves() {
        let all = [Priority::Low, Priority::Normal, Priority::High];
        let applicants: Vec<_> = (0..60)
            .map(|number| applicant(&format!("{:?}{number}", all[number % 3]), "a", all[number % 3]))
            .collect();
        let order = order(&ExecutionQueue::new(1, 1000), &applicants);
        let count = |name: &str| order[..14].iter().filter(|id| id.starts_with(name)).count();
        assert_eq!((count("High"), count("Normal"), count("Low")), (8, 4, 2));
        assert_eq!(order.len(), 60);
    }

    #[test]
    fn h6_callers_of_one_priority_take_turns() {
        let mut applicants: Vec<_> =
            (0..4).map(|number| applicant(&format!("many{number}"), "many", Priority::Normal)).collect();
        applicants.push(applicant("few0", "few", Priority::Normal));
        let order = order(&ExecutionQueue::new(1, 1000), &applicants);
        assert_eq!(order[..3], ["many0", "few0", "many1"]);
    }

    #[test]
    fn h6_each_server_has_its_own_places() {
        let queues = ExecutionQueues::new(1, 1);
        let _taken = queues.of("slow").apply(&applicant("1", "a", Priority::Low)).unwrap().unwrap();
        let _waits = queued(&queues.of("slow"), &applicant("2", "a", Priority::Low));
        assert!(queues.of("other").apply(&applicant("3", "a", Priority::Low)).unwrap().is_ok());
        assert_eq!((queues.position("2"), queues.position("3")), (Some(1), None));
    }
}
