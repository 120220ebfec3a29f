//! A list with lookup by name, such as tools with their schemas.

use std::collections::HashMap;

/// Items in the server's order. If two have the same name, lookups return the first.
#[derive(Debug, Clone)]
pub struct NameIndex<I> {
    items: Vec<I>,
    places: HashMap<Box<str>, usize>,
}

impl<I> NameIndex<I> {
    pub fn new(items: Vec<I>, name: impl Fn(&I) -> &str) -> Self {
        let mut places = HashMap::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            places.entry(Box::from(name(item))).or_insert(place);
        }
        Self { items, places }
    }

    pub fn get(&self, name: &str) -> Option<&I> {
        self.places.get(name).map(|place| &self.items[*place])
    }

    pub fn items(&self) -> &[I] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::NameIndex;

    #[test]
    fn finds_items_by_name_in_the_order_given() {
        let index = NameIndex::new(vec![("add", 1), ("echo", 2), ("add", 3)], |item| item.0);
        assert_eq!(index.get("echo"), Some(&("echo", 2)));
        assert_eq!(index.get("add"), Some(&("add", 1)));
        assert_eq!(index.get("sub"), None);
        assert_eq!(index.items(), [("add", 1), ("echo", 2), ("add", 3)]);
    }
}
