//! Caches tool lists that were converted for a revision.
//!
//! A list can be large, and handlers return the same buffer for every request. The cache key is
//! that buffer's address; the cache holds the buffer, so the address cannot be reused.

use parking_lot::Mutex;
use std::collections::VecDeque;
use trunkline_protocol::{Raw, Revision};

/// Most lists in the cache.
const MAX_LISTS: usize = 16;
/// Most bytes in the cache, original and converted lists together.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The form that a list is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) revision: Revision,
    pub(super) tasks: Tasks,
}

/// The `execution.taskSupport` of tools in the converted list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tasks {
    /// As in the handler's list.
    AsListed,
    /// `optional` for all tools, if the handler's list sets it for none.
    Optional,
}

/// The cache, newest list last.
#[derive(Default)]
pub(crate) struct ListCache(Mutex<VecDeque<CachedList>>);

struct CachedList {
    original: Raw,
    form: Form,
    converted: Raw,
}

impl ListCache {
    /// Returns the converted list, from the cache or from `make`.
    pub(super) fn get(&self, original: &Raw, form: Form, make: impl FnOnce() -> Raw) -> Raw {
        let known =
            self.0.lock().iter().find(|kept| kept.is(original, form)).map(|kept| kept.converted.clone());
        if let Some(converted) = known {
            return converted;
        }
        let converted = make();
        // A buffer that the handler does not hold will never be returned again.
        if !original.bytes().is_unique() {
            self.keep(CachedList { original: original.clone(), form, converted: converted.clone() });
        }
        converted
    }

    fn keep(&self, kept: CachedList) {
        let mut lists = self.0.lock();
        lists.push_back(kept);
        while lists.len() > MAX_LISTS || lists.iter().map(CachedList::size).sum::<usize>() > MAX_BYTES {
            lists.pop_front();
        }
    }
}

impl CachedList {
    fn is(&self, original: &Raw, form: Form) -> bool {
        std::ptr::eq(self.original.as_bytes(), original.as_bytes()) && self.form == form
    }

    fn size(&self) -> usize {
        self.original.as_bytes().len() + self.converted.as_bytes().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form { revision: Revision::V2025_11_25, tasks: Tasks::AsListed };

    fn list(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn a_list_that_stays_the_same_is_made_once_for_each_form() {
        let (lists, original) = (ListCache::default(), list("[1]"));
        let held = original.clone();
        assert_eq!(lists.get(&original, FORM, || list("[2]")), list("[2]"));
        assert_eq!(lists.get(&held, FORM, || panic!("it is known")), list("[2]"));
        let other = Form { tasks: Tasks::Optional, ..FORM };
        assert_eq!(lists.get(&original, other, || list("[3]")), list("[3]"));
        let twin = list("[1]");
        assert_eq!(lists.get(&twin, FORM, || list("[4]")), list("[4]"));
    }

    #[test]
    fn what_nobody_holds_is_not_kept_and_what_is_kept_is_bounded() {
        let lists = ListCache::default();
        lists.get(&list("[1]"), FORM, || list("[2]"));
        assert!(lists.0.lock().is_empty());
        let held: Vec<_> = (0..MAX_LISTS + 3).map(|n| list(&format!("[{n}]"))).collect();
        for original in &held {
            let twice = original.clone();
            lists.get(&twice, FORM, || list("[]"));
        }
        assert_eq!(lists.0.lock().len(), MAX_LISTS);
        let large = list(&format!("\"{}\"", "x".repeat(MAX_BYTES)));
        lists.get(&large.clone(), FORM, Raw::null);
        assert!(lists.0.lock().is_empty());
    }
}
