//! A queue in which callers take turns.

use std::collections::VecDeque;

/// A queue in which callers take turns, so that a caller with many entries does not delay the
/// others. Callers are in the order of their turns; none of them is without entries.
#[derive(Debug, Clone)]
pub struct Turns<T>(VecDeque<(String, VecDeque<T>)>);

impl<T> Turns<T> {
    pub fn push(&mut self, caller: &str, entry: T) {
        match self.of(caller) {
            Some(queue) => queue.push_back(entry),
            None => self.0.push_back((caller.to_owned(), VecDeque::from([entry]))),
        }
    }

    /// Takes the first entry of the caller whose turn it is; that caller is then the last.
    pub fn pop(&mut self) -> Option<T> {
        self.pop_where(|_| true).map(|(_, entry)| entry)
    }

    /// Takes the first entry of the first caller that `may` have its turn; the callers before it
    /// keep theirs.
    pub fn pop_where(&mut self, may: impl Fn(&str) -> bool) -> Option<(String, T)> {
        let at = self.0.iter().position(|(caller, _)| may(caller))?;
        let (caller, mut queue) = self.0.remove(at)?;
        let entry = queue.pop_front()?;
        if !queue.is_empty() {
            self.0.push_back((caller.clone(), queue));
        }
        Some((caller, entry))
    }

    /// Removes the newest entry of a caller; false if it has none.
    pub fn remove_newest(&mut self, caller: &str) -> bool {
        let removed = self.of(caller).is_some_and(|queue| queue.pop_back().is_some());
        self.forget_those_without_entries();
        removed
    }

    /// Removes the entries that are not to be kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        for (_, queue) in &mut self.0 {
            queue.retain(&mut keep);
        }
        self.forget_those_without_entries();
    }

    /// Removes the entries of one caller that are not to be kept.
    pub fn retain_of(&mut self, caller: &str, keep: impl FnMut(&T) -> bool) {
        if let Some(queue) = self.of(caller) {
            queue.retain(keep);
            self.forget_those_without_entries();
        }
    }

    /// The number of entries of each caller.
    pub fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(caller, queue)| (caller.as_str(), queue.len()))
    }

    pub fn len(&self) -> usize {
        self.counts().map(|(_, count)| count).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same queue, with other entries.
    #[must_use]
    pub fn map<U>(&self, change: impl Fn(&T) -> U) -> Turns<U> {
        let queue =
            |(caller, queue): &(String, VecDeque<T>)| (caller.clone(), queue.iter().map(&change).collect());
        Turns(self.0.iter().map(queue).collect())
    }

    fn of(&mut self, caller: &str) -> Option<&mut VecDeque<T>> {
        self.0.iter_mut().find(|(known, _)| known == caller).map(|(_, queue)| queue)
    }

    fn forget_those_without_entries(&mut self) {
        self.0.retain(|(_, queue)| !queue.is_empty());
    }
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_take_turns_and_those_that_may_not_keep_theirs() {
        let mut turns = Turns::default();
        for (caller, entry) in [("a", 1), ("a", 2), ("b", 3), ("a", 4), ("c", 5)] {
            turns.push(caller, entry);
        }
        assert_eq!(turns.counts().collect::<Vec<_>>(), [("a", 3), ("b", 1), ("c", 1)]);
        assert_eq!(turns.pop_where(|caller| caller != "a"), Some(("b".to_owned(), 3)));
        assert_eq!(turns.pop_where(|caller| caller == "d"), None);
        assert!(turns.remove_newest("a") && !turns.remove_newest("b"));
        let rest: Vec<_> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!((rest, turns.is_empty()), (vec![1, 5, 2], true));
    }
}
