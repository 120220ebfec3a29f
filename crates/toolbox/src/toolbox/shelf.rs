//! Shelf: things of one kind in the order they came, each findable by its names.

use std::{collections::HashMap, sync::Arc};

/// Numbers rise and are never used again, so a page can go on where the last one ended, whatever was added or removed since.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    items: Vec<(u64, Arc<T>)>,
    by_name: HashMap<String, u64>,
    next: u64,
}

impl<T> Shelf<T> {
    /// Adds a thing under its names; `Err` is the name that is taken.
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

    /// Removes a thing and all its names; says whether it was there.
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

    /// Everything that came after the given number, with the numbers.
    pub(super) fn after(&self, last: Option<u64>) -> impl Iterator<Item = (u64, &Arc<T>)> {
        let start = last.map_or(0, |last| self.items.partition_point(|(n, _)| *n <= last));
        self.items[start..].iter().map(|(n, item)| (*n, item))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { items: Vec::new(), by_name: HashMap::new(), next: 1 }
    }
}

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), by_name: self.by_name.clone(), next: self.next }
    }
}
