//! What the fuzz targets have in common: a parser each, and how long it may take.

pub mod parsers;

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// How long one input may take, in time of the processor. The clock on the wall would also count what other programs took,
/// and the pauses of a machine that sleeps. That everything runs several times slower here, and most of it several times,
/// is not made up for: what keeps this bound here keeps it everywhere.
const MOST: Duration = Duration::from_secs(1);

/// Defines the target of one parser.
#[macro_export]
macro_rules! target {
    ($parser:ident) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::in_time($crate::parsers::$parser::holds, data));
    };
}

/// Checks what must hold, and that it took no longer than it may.
pub fn in_time(holds: fn(&[u8]), data: &[u8]) {
    let before = used();
    holds(data);
    let took = used().saturating_sub(before);
    assert!(took <= MOST, "{} bytes took {took:?}", data.len());
}

fn used() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
