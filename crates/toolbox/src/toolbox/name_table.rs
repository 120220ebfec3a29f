//! `NameTable`: items of one kind in insertion order, found by any of their names.

use std::{collections::HashMap, sync::Arc};

/// Each item has a number. Numbers rise and are never reused, so a page can continue after the
/// last one even if items were added or removed in between.
#[derive(Debug)]
pub(super) struct NameTable<T> {
    items: Vec<(u64, Arc<T>)>,
    by_name: HashMap<String, u64>,
    next: u64,
}

impl<T> NameTable<T> {
    /// Adds an item under its names; `Err` holds a name that is already used.
    pub(super) fn add(&mut self, names: Vec<String>, item: T) -> Result<(), String> {
        for (i, name) in names.iter().enumerate() {
            if self.by_name.contains_key(name) || names[..i].contains(name) {
                return Err(name.clone());
            }
        }
        for name in names {
            self.by_name.insert(name, self.next);
        }
        self.items.push((self.next, Arc::new(item)));
        self.next += 1;
        Ok(())
    }

    /// Removes an item and all its names; returns true if it existed.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let Some(number) = self.by_name.get(name).copied() else { return false };
        self.by_name.retain(|_, n| *n != number);
        self.items.retain(|(n, _)| *n != number);
        true
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<T>> {
        let number = self.by_name.get(name)?;
        let at = self.items.binary_search_by_key(number, |(n, _)| *n).ok()?;
        Some(&self.items[at].1)
    }

    /// All items with a greater number than `last`, with their numbers.
    pub(super) fn after(&self, last: Option<u64>) -> impl Iterator<Item = (u64, &Arc<T>)> {
        let start = last.map_or(0, |last| self.items.partition_point(|(n, _)| *n <= last));
        self.items[start..].iter().map(|(n, item)| (*n, item))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self { items: Vec::new(), by_name: HashMap::new(), next: 1 }
    }
}

impl<T> Clone for NameTable<T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), by_name: self.by_name.clone(), next: self.next }
    }
}
