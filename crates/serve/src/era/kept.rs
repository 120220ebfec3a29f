//! Caches tool lists that were converted for a revision.
//!
//! A list can be large, and handlers return the same buffer for every request. The cache key is
//! that buffer's address; the cache holds the buffer, so the address cannot be reused.

use crate::session::lock;
use std::{collections::VecDeque, sync::Mutex};
use trunkline_protocol::{Raw, Revision};

/// Most lists in the cache.
const MOST: usize = 16;
/// Most bytes in the cache, original and converted lists together.
const MOST_BYTES: usize = 32 * 1024 * 1024;

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
    AsTold,
    /// `optional` for all tools, if the handler's list sets it for none.
    Optional,
}

/// The cache, newest list last.
#[derive(Default)]
pub(crate) struct KeptLists(Mutex<VecDeque<Kept>>);

struct Kept {
    told: Raw,
    form: Form,
    made: Raw,
}

impl KeptLists {
    /// Returns the converted list, from the cache or from `make`.
    pub(super) fn get(&self, told: &Raw, form: Form, make: impl FnOnce() -> Raw) -> Raw {
        let known = lock(&self.0).iter().find(|kept| kept.is(told, form)).map(|kept| kept.made.clone());
        if let Some(made) = known {
            return made;
        }
        let made = make();
        // A buffer that the handler does not hold will never be returned again.
        if !told.bytes().is_unique() {
            self.keep(Kept { told: told.clone(), form, made: made.clone() });
        }
        made
    }

    fn keep(&self, kept: Kept) {
        let mut lists = lock(&self.0);
        lists.push_back(kept);
        while lists.len() > MOST || lists.iter().map(Kept::size).sum::<usize>() > MOST_BYTES {
            lists.pop_front();
        }
    }
}

impl Kept {
    fn is(&self, told: &Raw, form: Form) -> bool {
        std::ptr::eq(self.told.as_bytes(), told.as_bytes()) && self.form == form
    }

    fn size(&self) -> usize {
        self.told.as_bytes().len() + self.made.as_bytes().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form { revision: Revision::V2025_11_25, tasks: Tasks::AsTold };

    fn list(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn a_list_that_stays_the_same_is_made_once_for_each_form() {
        let (lists, told) = (KeptLists::default(), list("[1]"));
        let held = told.clone();
        assert_eq!(lists.get(&told, FORM, || list("[2]")), list("[2]"));
        assert_eq!(lists.get(&held, FORM, || panic!("it is known")), list("[2]"));
        let other = Form { tasks: Tasks::Optional, ..FORM };
        assert_eq!(lists.get(&told, other, || list("[3]")), list("[3]"));
        let twin = list("[1]");
        assert_eq!(lists.get(&twin, FORM, || list("[4]")), list("[4]"));
    }

    #[test]
    fn what_nobody_holds_is_not_kept_and_what_is_kept_is_bounded() {
        let lists = KeptLists::default();
        lists.get(&list("[1]"), FORM, || list("[2]"));
        assert!(lock(&lists.0).is_empty());
        let held: Vec<_> = (0..MOST + 3).map(|n| list(&format!("[{n}]"))).collect();
        for told in &held {
            let twice = told.clone();
            lists.get(&twice, FORM, || list("[]"));
        }
        assert_eq!(lock(&lists.0).len(), MOST);
        let large = list(&format!("\"{}\"", "x".repeat(MOST_BYTES)));
        lists.get(&large.clone(), FORM, Raw::null);
        assert!(lock(&lists.0).is_empty());
    }
}
