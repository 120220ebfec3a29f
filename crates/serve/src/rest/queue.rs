//! The places of executions, and the queue for them.
//!
//! Priorities are weights, not strict: of seven places that become free while all priorities wait,
//! high gets four, normal two and low one, so that nothing starves.

use parking_lot::Mutex;
use std::{collections::VecDeque, sync::Arc};
use tokio::sync::oneshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

#[derive(Debug)]
pub(crate) struct ExecutionQueue {
    state: Mutex<State>,
    max_running: usize,
    max_waiting: usize,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: [VecDeque<oneshot::Sender<Slot>>; 3],
    turn: usize,
}

/// The place of one execution; dropping it offers the place to the next.
#[derive(Debug)]
pub(crate) struct Slot(Option<Arc<ExecutionQueue>>);

impl ExecutionQueue {
    pub(crate) fn new(max_running: usize, max_waiting: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), max_running, max_waiting })
    }

    /// Waits for a place. Dropping the future leaves the queue.
    pub(crate) async fn slot(self: &Arc<Self>, priority: Priority) -> Result<Slot, QueueFull> {
        let place = {
            let mut state = self.state.lock();
            if state.running < self.max_running {
                state.running += 1;
                return Ok(Slot(Some(self.clone())));
            }
            for queue in &mut state.waiting {
                queue.retain(|waiting| !waiting.is_closed());
            }
            if state.waiting.iter().map(VecDeque::len).sum::<usize>() >= self.max_waiting {
                return Err(QueueFull);
            }
            let (offer, place) = oneshot::channel();
            state.waiting[priority as usize].push_back(offer);
            place
        };
        place.await.map_err(|_| QueueFull)
    }

    /// Gives a place that became free to the next that waits.
    fn pass_on(self: &Arc<Self>) {
        let mut slot = Slot(Some(self.clone()));
        loop {
            let next = {
                let mut state = self.state.lock();
                let next = state.next();
                if next.is_none() {
                    state.running -= 1;
                }
                next
            };
            let Some(next) = next else {
                // The place was given back above, and must not be given back again.
                slot.0 = None;
                return;
            };
            match next.send(slot) {
                Ok(()) => return,
                // That one stopped waiting.
                Err(back) => slot = back,
            }
        }
    }
}

impl State {
    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        for _ in 0..TURNS.len() {
            let priority = TURNS[self.turn];
            self.turn = (self.turn + 1) % TURNS.len();
            if let Some(next) = self.waiting[priority as usize].pop_front() {
                return Some(next);
            }
        }
        None
    }
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
    use futures_util::FutureExt;
    use std::{pin::pin, sync::Arc};

    #[test]
    fn places_are_bounded_and_free_again_when_dropped() {
        let queue = ExecutionQueue::new(1, 1);
        let first = queue.slot(Priority::Normal).now_or_never().unwrap().unwrap();
        let mut second = pin!(queue.slot(Priority::Normal));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(queue.slot(Priority::High).now_or_never().unwrap().unwrap_err(), QueueFull);
        drop(first);
        drop(second.now_or_never().unwrap().unwrap());
        assert!(queue.slot(Priority::Low).now_or_never().unwrap().is_ok());
    }

    #[test]
    fn one_that_left_the_queue_holds_no_place() {
        let queue = ExecutionQueue::new(1, 2);
        let first = queue.slot(Priority::Normal).now_or_never().unwrap().unwrap();
        let mut left = Box::pin(queue.slot(Priority::Normal));
        assert!(left.as_mut().now_or_never().is_none());
        let mut stays = pin!(queue.slot(Priority::Normal));
        assert!(stays.as_mut().now_or_never().is_none());
        drop(left);
        drop(first);
        assert!(stays.now_or_never().unwrap().is_ok());
    }

    #[tokio::test]
    async fn priorities_are_weights_and_nothing_starves() {
        let queue = ExecutionQueue::new(1, 1000);
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = queue.slot(Priority::Normal).await.unwrap();
        let mut tasks = Vec::new();
        for priority in [Priority::Low, Priority::Normal, Priority::High] {
            for _ in 0..20 {
                let (queue, order) = (queue.clone(), order.clone());
                tasks.push(tokio::spawn(async move {
                    let slot = queue.slot(priority).await.unwrap();
                    order.lock().push(priority);
                    drop(slot);
                }));
            }
        }
        tokio::task::yield_now().await;
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        let order = order.lock();
        let count = |wanted| order[..14].iter().filter(|priority| **priority == wanted).count();
        assert_eq!((count(Priority::High), count(Priority::Normal), count(Priority::Low)), (8, 4, 2));
    }
}
