//! Ticker: the list of one thread's alarms, and the task that looks through it.

use crate::pause::{self, Watch};
use std::{
    cell::RefCell,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::Duration,
};

use tokio::{
    runtime::{Handle, Id},
    time::{Instant, sleep_until},
};

/// How often a list is looked through while there are alarms in it. Nothing that is listed is due sooner.
pub(super) const TICK: Duration = Duration::from_millis(25);

/// For how many ticks in a row a list may be empty before nobody looks any more.
const PATIENCE: u32 = 40;

/// The alarms that were set on one thread in one runtime.
pub(super) struct Ticker(Mutex<List>);

#[derive(Default)]
struct List {
    places: Vec<Option<Entry>>,
    free: Vec<usize>,
    task: Task,
    /// When it is looked through next, if somebody does that.
    next: Option<Instant>,
}

struct Entry {
    due: Instant,
    waker: Waker,
}

/// Whether somebody looks through the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Task {
    #[default]
    Ended,
    Running,
}

thread_local! {
    /// A thread may enter another runtime; the task of the first one need not be running then.
    static OWN: RefCell<Option<(Id, Arc<Ticker>)>> = const { RefCell::new(None) };
}

impl Ticker {
    pub(super) fn of_this_thread() -> Arc<Self> {
        let runtime = Handle::current().id();
        OWN.with_borrow_mut(|own| match own {
            Some((of, ticker)) if *of == runtime => Arc::clone(ticker),
            _ => {
                let ticker = Arc::new(Self(Mutex::default()));
                *own = Some((runtime, Arc::clone(&ticker)));
                ticker
            }
        })
    }

    /// Puts an alarm into the list and tells its place, if the list will be looked through before it is due: so much is known
    /// without a look at the clock.
    pub(super) fn list_later(&self, due: Instant, waker: &Waker) -> Option<usize> {
        let mut list = self.lock();
        let in_time = list.task == Task::Running && list.next.is_some_and(|next| next <= due);
        in_time.then(|| list.add(due, waker))
    }

    /// Puts an alarm into the list and tells its place.
    pub(super) fn list(self: &Arc<Self>, due: Instant, waker: &Waker) -> usize {
        let mut list = self.lock();
        let place = list.add(due, waker);
        if list.task == Task::Ended {
            list.task = Task::Running;
            drop(list);
            let looking = Looking { ticker: Arc::clone(self), task: Task::Running, _watch: Watch::begin() };
            // A runtime that is closing drops it at once, and it looks into the list then.
            tokio::spawn(looking.run());
        }
        place
    }

    /// Whether the alarm at a place has rung; if not, it will wake this one.
    pub(super) fn look(&self, place: usize, waker: &Waker) -> Poll<()> {
        let mut list = self.lock();
        let Some(entry) = &mut list.places[place] else { return Poll::Ready(()) };
        if !entry.waker.will_wake(waker) {
            let old = std::mem::replace(&mut entry.waker, waker.clone());
            drop(list);
            // What a waker belonged to may go with it, and have alarms of its own in this list.
            drop(old);
        }
        Poll::Pending
    }

    /// Gives a place back, whether its alarm has rung or not.
    pub(super) fn strike_out(&self, place: usize) {
        let mut list = self.lock();
        let entry = list.places[place].take();
        list.free.push(place);
        drop(list);
        drop(entry);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody looks through the list. When its runtime ends, this is dropped, and the next alarm starts another.
struct Looking {
    ticker: Arc<Ticker>,
    task: Task,
    _watch: Watch,
}

impl Looking {
    async fn run(mut self) {
        let mut empty = 0;
        while self.task == Task::Running {
            let next = self.ticker.lock().next_look();
            sleep_until(next).await;
            // Before anything rings: an alarm whose time was over in a pause is put off.
            pause::look();
            let ringing = self.ticker.lock().take_due();
            empty = if ringing.is_none() { empty + 1 } else { 0 };
            for entry in ringing.into_iter().flatten() {
                entry.waker.wake();
            }
            if empty == PATIENCE {
                self.task = self.ticker.lock().end_if_empty();
                empty = 0;
            }
        }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        // One that has ended said so, and another may be running by now.
        if self.task == Task::Running {
            self.ticker.lock().task = Task::Ended;
        }
    }
}

impl List {
    fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }

    fn end_if_empty(&mut self) -> Task {
        if self.is_empty() {
            *self = Self::default();
        }
        self.task
    }

    fn add(&mut self, due: Instant, waker: &Waker) -> usize {
        let entry = Some(Entry { due, waker: waker.clone() });
        if let Some(place) = self.free.pop() {
            self.places[place] = entry;
            place
        } else {
            self.places.push(entry);
            self.places.len() - 1
        }
    }

    fn next_look(&mut self) -> Instant {
        let tick = Instant::now() + TICK;
        let first = self.places.iter().flatten().map(|entry| entry.due).min();
        *self.next.insert(first.map_or(tick, |first| first.min(tick)))
    }

    /// The alarms that ring now; nothing if there are no alarms at all.
    fn take_due(&mut self) -> Option<Vec<Entry>> {
        if self.is_empty() {
            return None;
        }
        let now = Instant::now();
        let due = |place: &mut Option<Entry>| place.take_if(|entry| entry.due <= now);
        Some(self.places.iter_mut().filter_map(due).collect())
    }
}
