//! Shared by the fuzz targets: the checked parsers and the CPU time limit.

pub mod parsers;

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time limit of one input. Wall-clock time would include other programs and suspends of the
/// machine. The limit is not raised although a fuzzing build is several times slower and most
/// inputs are parsed several times, so an input within it is within it everywhere.
const MOST: Duration = Duration::from_secs(1);

/// Defines the target of one parser.
#[macro_export]
macro_rules! target {
    ($parser:ident) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::in_time($crate::parsers::$parser::holds, data));
    };
}

/// Runs the check on an input and asserts the time limit.
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
