//! The cost of the audit trail per call: `cargo xtask bench audit`.
//!
//! Callers on two single-threaded runtimes, as in the gateway, call a handler that yields once
//! before it answers, with and without a trail. The difference is the cost of two records.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reports, and ends if it cannot measure"
)]

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::task::yield_now;
use trunkline_gateway::audit::{Audited, Durability, Options, Trail};
use trunkline_protocol::{Call, Handler, Raw, Reply, method};

const CALLERS: [usize; 4] = [1, 2, 32, 256];
const RUNTIMES: usize = 2;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(700);
/// A caller reads the clock after this many calls.
const CALLS: u64 = 16;

struct Echo;

impl Handler for Echo {
    fn call(&self, call: Call) -> Reply {
        Reply::from_future(async {
            yield_now().await;
            Ok(call.params.unwrap_or_else(Raw::null))
        })
    }
}

/// Calls per second, and microseconds of processor time per call.
#[derive(Debug, Clone, Copy)]
struct Figures {
    rate: f64,
    cpu: f64,
}

fn main() {
    println!("callers  calls/s plain  audited  CPU µs/call plain  audited  the trail");
    for callers in CALLERS {
        let (mut plain, mut audited) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            plain.push(measure(callers, &Arc::new(Echo)));
            let dir = tempfile::tempdir().unwrap();
            let durability = Durability::Batch { interval: Duration::from_millis(100) };
            let trail = Trail::open(dir.path(), Options { durability, ..Options::default() }).unwrap();
            let handler = Audited::new(Echo, trail, Arc::new(|_, _| false));
            audited.push(measure(callers, &Arc::new(handler)));
        }
        let [plain, audited] = [plain, audited].map(|runs| Figures {
            rate: median(runs.iter().map(|run| run.rate)),
            cpu: median(runs.iter().map(|run| run.cpu)),
        });
        let trail = audited.cpu - plain.cpu;
        println!(
            "{callers:>7}  {:>13.0}  {:>7.0}  {:>17.2}  {:>7.2}  {trail:>9.2}",
            plain.rate, audited.rate, plain.cpu, audited.cpu
        );
    }
}

fn measure(callers: usize, handler: &Arc<impl Handler + 'static>) -> Figures {
    let (began, cpu) = (Instant::now(), cpu_time());
    let calls: u64 = thread::scope(|scope| {
        let each = callers.div_ceil(RUNTIMES);
        let threads: Vec<_> = (0..callers.min(RUNTIMES))
            .map(|_| {
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let start = |_| tokio::spawn(caller(Arc::clone(handler), began + ROUND));
                        let callers: Vec<_> = (0..each).map(start).collect();
                        let mut calls = 0;
                        for caller in callers {
                            calls += caller.await.unwrap();
                        }
                        calls
                    })
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    #[expect(clippy::cast_precision_loss, reason = "far fewer calls than a mantissa holds")]
    let calls = calls as f64;
    Figures {
        rate: calls / began.elapsed().as_secs_f64(),
        cpu: cpu_time().saturating_sub(cpu).as_secs_f64() * 1e6 / calls,
    }
}

async fn caller(handler: Arc<impl Handler>, until: Instant) -> u64 {
    let params = Raw::from(json!({"name": "search", "arguments": {"query": "rust", "limit": 10}}));
    let mut calls = 0;
    while Instant::now() < until {
        for _ in 0..CALLS {
            handler.call(Call::new(method::TOOLS_CALL, Some(params.clone()))).outcome().await.unwrap();
        }
        calls += CALLS;
    }
    calls
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
