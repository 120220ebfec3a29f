//! Measures the cost of a timeout for a call that ends long before it: `cargo xtask bench timers`.
//!
//! Callers on a single-threaded runtime write to a socket and wait for the echo from another
//! thread, with and without [`timeout`] around the wait. A longer timer is always set, so each new
//! timeout becomes the runtime's next timer to wake up for.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reports, and ends if it cannot measure"
)]

use rustix::time::{ClockId, clock_gettime};
use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream as Blocking,
    thread,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};
use trunkline_resilience::{Deadline, timeout};

const CALLERS: [usize; 3] = [1, 32, 256];
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(500);
const LIMITS: [Option<Duration>; 3] = [None, Some(Duration::from_secs(1)), Some(Duration::from_mins(1))];
const LONGER: Duration = Duration::from_mins(5);
/// Number of calls after which a caller reads the clock.
const CALLS: u64 = 16;

fn main() {
    println!("CPU µs/call of the calling thread\ncallers  no limit     1 s    60 s");
    for callers in CALLERS {
        let mut runs = LIMITS.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for (limit, runs) in LIMITS.into_iter().zip(&mut runs) {
                runs.push(measure(callers, limit));
            }
        }
        let [none, short, long] = runs.map(median);
        println!("{callers:>7}  {none:>8.2}  {short:>6.2}  {long:>6.2}");
    }
}

fn measure(callers: usize, limit: Option<Duration>) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let longer = tokio::spawn(Deadline::after(LONGER));
        let (until, cpu) = (Instant::now() + ROUND, cpu_time());
        let callers: Vec<_> = (0..callers).map(|_| tokio::spawn(caller(limit, until))).collect();
        let mut calls = 0.0;
        for caller in callers {
            calls += caller.await.unwrap();
        }
        longer.abort();
        cpu_time().saturating_sub(cpu).as_secs_f64() * 1e6 / calls
    })
}

async fn caller(limit: Option<Duration>, until: Instant) -> f64 {
    let (mut socket, mut message, mut calls) = (echo(), [7; 64], 0.0);
    while Instant::now() < until {
        for _ in 0..CALLS {
            socket.write_all(&message).await.unwrap();
            let answer = socket.read_exact(&mut message);
            match limit {
                Some(limit) => timeout(limit, answer).await.unwrap().unwrap(),
                None => answer.await.unwrap(),
            };
            calls += 1.0;
        }
    }
    calls
}

/// A socket whose peer echoes everything.
fn echo() -> UnixStream {
    let (near, mut far) = Blocking::pair().unwrap();
    thread::spawn(move || {
        let mut message = [0; 64];
        while far.read_exact(&mut message).is_ok() && far.write_all(&message).is_ok() {}
    });
    near.set_nonblocking(true).unwrap();
    UnixStream::from_std(near).unwrap()
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
