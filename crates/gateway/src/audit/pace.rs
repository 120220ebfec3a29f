//! Pace: whether it is worth waiting for the records of others.

/// Most records that are written at once before somebody looks round again.
const MOST: u32 = 31;

/// How often waiting for others was in vain of late. It is tried ever more rarely while nobody comes, and each time as soon as
/// somebody does.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How many records are written at once before waiting is tried again.
    pause: u32,
    /// How many of them are left.
    left: u32,
}

impl Pace {
    /// Whether to wait with a record.
    pub(super) fn expects_others(&mut self) -> bool {
        let waits = self.left == 0;
        self.left = self.left.saturating_sub(1);
        waits
    }

    /// Takes note of how many records there were after waiting.
    pub(super) fn gathered(&mut self, records: usize) {
        self.pause = if records > 1 { 0 } else { (2 * self.pause + 1).min(MOST) };
        self.left = self.pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many records wait, when so many are there each time.
    fn waits(pace: &mut Pace, records: usize, together: usize) -> usize {
        let waits = |_: &usize| pace.expects_others().then(|| pace.gathered(together)).is_some();
        (0..records).filter(waits).count()
    }

    #[test]
    fn who_is_alone_waits_rarely_and_who_is_not_each_time() {
        let mut pace = Pace::default();
        assert_eq!(waits(&mut pace, 320, 1), 14);
        assert!(waits(&mut pace, 64, 2) >= 32, "company is noticed");
        assert_eq!(waits(&mut pace, 100, 3), 100);
        assert_eq!(waits(&mut pace, 4, 1), 2, "one that came alone is soon forgotten");
    }
}
