//! Truth: a condition holds, does not hold, or cannot be judged.

/// The result of a condition.
///
/// A condition that cannot be judged counts against the caller: a rule that allows does not apply,
/// a rule that denies or asks does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Truth {
    No,
    Unknown,
    Yes,
}

impl Truth {
    /// Both conditions together.
    pub(crate) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// The same condition over several values: `Yes` if it holds for all, `No` if for none.
    /// Anything between cannot be judged, so that one bad value among good ones is never let
    /// through.
    pub(crate) fn of_all(each: impl Iterator<Item = Self>) -> Self {
        let mut together = None;
        for one in each {
            together = Some(match together {
                None => one,
                Some(before) if before == one => one,
                Some(_) => return Self::Unknown,
            });
        }
        together.unwrap_or(Self::No)
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
