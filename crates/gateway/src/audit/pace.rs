//! Pace: whether it is worth letting other tasks run before a record is written.

/// Most records that are written at once before gathering is tried again.
const MOST: u32 = 31;

/// How often gathering was in vain of late. It is tried ever more rarely while it brings no other
/// record, and each time as soon as it does.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How many records are written at once before gathering is tried again.
    at_once: u32,
    /// How many of them are left.
    left: u32,
}

impl Pace {
    /// Whether to let others run before the next record is written.
    pub(super) fn expects_others(&mut self) -> bool {
        let waits = self.left == 0;
        self.left = self.left.saturating_sub(1);
        waits
    }

    /// Notes how many records there were after others ran.
    pub(super) fn gathered(&mut self, records: usize) {
        self.at_once = if records > 1 { 0 } else { (2 * self.at_once + 1).min(MOST) };
        self.left = self.at_once;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `records` wait, if `together` are there each time.
    fn waits(pace: &mut Pace, records: usize, together: usize) -> usize {
        let waits = |_: &usize| pace.expects_others().then(|| pace.gathered(together)).is_some();
        (0..records).filter(waits).count()
    }

    #[test]
    fn a_lone_caller_waits_rarely_and_callers_in_company_each_time() {
        let mut pace = Pace::default();
        assert_eq!(waits(&mut pace, 320, 1), 14);
        assert!(waits(&mut pace, 64, 2) >= 32, "company is noticed");
        assert_eq!(waits(&mut pace, 100, 3), 100);
        assert_eq!(waits(&mut pace, 4, 1), 2, "one record without company is soon forgotten");
    }
}
