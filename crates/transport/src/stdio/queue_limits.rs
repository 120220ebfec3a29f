//! How much may wait for a peer that reads slowly, and for how long.

use std::time::Duration;

/// Frames that may wait to be written.
pub const DEFAULT_QUEUE_FRAMES: usize = 4096;

/// Bytes that may wait to be written.
pub const DEFAULT_QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// How long a peer may leave its input unread before its callers hear of it.
pub const DEFAULT_STALL_LIMIT: Duration = Duration::from_secs(25);

/// Bounds of the queue in front of a [`FrameWriter`](super::FrameWriter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Most frames that may wait.
    pub frames: usize,
    /// Most bytes that may wait; a single frame above it is still taken, but only alone.
    pub bytes: usize,
    /// Longest time without progress before sends fail with `Stalled`.
    pub stall: Duration,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { frames: DEFAULT_QUEUE_FRAMES, bytes: DEFAULT_QUEUE_BYTES, stall: DEFAULT_STALL_LIMIT }
    }
}

/// Turns both bounds into one currency, so that a single fair semaphore keeps them.
///
/// A frame costs its bytes, but at least `bytes / frames`, and at most everything there is. Hence the costs
/// in the queue can exceed neither bound, and a frame larger than the whole queue waits until it is alone.
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
