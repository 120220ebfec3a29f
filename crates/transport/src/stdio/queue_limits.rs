//! Size and time limits of the write queue, for a peer that reads slowly.

use std::time::Duration;

/// Default limit of queued frames.
pub const DEFAULT_QUEUE_FRAMES: usize = 4096;

/// Default limit of queued bytes.
pub const DEFAULT_QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// Default time without progress after which sends fail.
pub const DEFAULT_STALL_LIMIT: Duration = Duration::from_secs(25);

/// Limits of the queue of a [`FrameWriter`](super::FrameWriter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Most queued frames.
    pub frames: usize,
    /// Most queued bytes; a single larger frame is accepted when the queue is empty.
    pub bytes: usize,
    /// Longest time without progress before sends fail with `Stalled`.
    pub stall: Duration,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { frames: DEFAULT_QUEUE_FRAMES, bytes: DEFAULT_QUEUE_BYTES, stall: DEFAULT_STALL_LIMIT }
    }
}

/// Converts both limits into one cost, so that a single fair semaphore enforces them.
///
/// A frame costs its bytes, but at least `bytes / frames`, and at most the whole limit. So the
/// queued frames exceed neither limit, and a frame larger than the whole queue waits until it is
/// empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Price {
    floor: u32,
    ceiling: u32,
}

impl Price {
    pub(super) fn of(limits: &QueueLimits) -> Self {
        let bytes = u32::try_from(limits.bytes).unwrap_or(u32::MAX).max(1);
        let frames = u32::try_from(limits.frames).unwrap_or(u32::MAX).clamp(1, bytes);
        let floor = bytes / frames;
        Self { floor, ceiling: floor * frames }
    }

    pub(super) fn total(self) -> usize {
        self.ceiling as usize
    }

    pub(super) fn of_frame(self, length: usize) -> u32 {
        u32::try_from(length).unwrap_or(u32::MAX).clamp(self.floor, self.ceiling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(frames: usize, bytes: usize) -> Price {
        Price::of(&QueueLimits { frames, bytes, ..QueueLimits::default() })
    }

    #[test]
    fn small_frames_are_bounded_by_their_number() {
        let price = price(3, 1000);
        assert_eq!(3 * price.of_frame(1) as usize, price.total());
    }

    #[test]
    fn large_frames_are_bounded_by_their_bytes() {
        assert_eq!(price(100, 1000).of_frame(600), 600);
        assert_eq!(price(7, 10).total(), 7);
    }

    #[test]
    fn a_frame_above_the_queue_costs_all_of_it() {
        assert_eq!(price(100, 1000).of_frame(usize::MAX), 1000);
    }

    #[test]
    fn zero_limits_still_let_one_frame_through() {
        assert_eq!(price(0, 0).of_frame(10) as usize, price(0, 0).total());
    }
}
