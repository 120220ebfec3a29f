//! Runs a number of concurrent callers for a fixed time and measures their CPU time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

use crate::{Ask, Echo, watched::Watched};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) ask: Ask,
    pub(crate) concurrency: usize,
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
    pub(crate) watched: Option<Watched>,
}

/// Result of one measurement.
#[derive(Debug)]
pub(crate) struct Cost {
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) time: Duration,
    pub(crate) cpu: Duration,
    /// CPU time of the server, if its process is watched.
    pub(crate) server_cpu: Option<Duration>,
}

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    errors: AtomicU64,
}

impl Load {
    /// Runs the load with this client.
    pub(crate) async fn put_on<E: Echo>(self, client: E) -> Result<Cost> {
        let counts = Arc::new(Counts::default());
        let mut callers = JoinSet::new();
        for caller in 0..self.concurrency {
            callers.spawn(ask_on_and_on(client.clone(), self.ask, caller, counts.clone()));
        }
        tokio::time::sleep(self.warm_up).await;
        let server_cpu = self.server_time()?;
        let (start, cpu, calls) = (Instant::now(), processor_time()?, counts.calls.load(Ordering::Relaxed));
        tokio::time::sleep(self.measured).await;
        let cost = Cost {
            calls: counts.calls.load(Ordering::Relaxed) - calls,
            time: start.elapsed(),
            cpu: processor_time()?.saturating_sub(cpu),
            errors: counts.errors.load(Ordering::Relaxed),
            server_cpu: self.server_time()?.zip(server_cpu).map(|(end, start)| end.saturating_sub(start)),
        };
        callers.shutdown().await;
        Ok(cost)
    }

    fn server_time(&self) -> Result<Option<Duration>> {
        self.watched.map(Watched::processor_time).transpose()
    }
}

async fn ask_on_and_on<E: Echo>(client: E, ask: Ask, caller: usize, counts: Arc<Counts>) {
    for call in 0_u64.. {
        let answered = match ask {
            Ask::Call => client.echo(format!("caller {caller} says {call}")).await,
            Ask::List => client.list().await,
        };
        let count = match answered {
            Ok(true) => &counts.calls,
            Ok(false) | Err(_) => &counts.errors,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// CPU time of all threads of this process so far, user and system.
fn processor_time() -> Result<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).map_err(|_| anyhow!("the CPU clock returned a negative time"))
}
