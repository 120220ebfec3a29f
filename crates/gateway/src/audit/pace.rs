//! Pace: decides if a caller yields to other tasks before it writes its record.

/// Upper limit of `at_once`.
const MAX_AT_ONCE: u32 = 31;

/// Exponential backoff of yielding: it becomes rarer while it gathers no other record, and
/// happens for every record again as soon as it does.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Number of records written without a yield before the next yield is tried.
    at_once: u32,
    /// The rest of that number.
    left: u32,
}

impl Pace {
    /// True if the caller should yield before it writes the next record.
    pub(super) fn expects_others(&mut self) -> bool {
        let waits = self.left == 0;
        self.left = self.left.saturating_sub(1);
        waits
    }

    /// Notes how many records were queued after a yield.
    pub(super) fn gathered(&mut self, records: usize) {
        self.at_once = if records > 1 { 0 } else { (2 * self.at_once + 1).min(MAX_AT_ONCE) };
        self.left = self.at_once;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of `records` that are preceded by a yield, if each yield gathers `together`.
    fn waits(pace: &mut Pace, records: usize, together: usize) -> usize {
        let waits = |_: &usize| pace.expects_others().then(|| pace.gathered(together)).is_some();
        (0..records).filter(waits).count()
    }

    #[test]
    fn a_lone_caller_waits_rarely_and_callers_in_company_each_time() {
        let mut pace = Pace::default();
        assert_eq!(waits(&mut pace, 320, 1), 14);
        assert!(waits(&mut pace, 64, 2) >= 32, "other callers are noticed");
        assert_eq!(waits(&mut pace, 100, 3), 100);
        assert_eq!(waits(&mut pace, 4, 1), 2, "a single record written alone changes little");
    }
}
