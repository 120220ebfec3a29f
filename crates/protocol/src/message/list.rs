//! Lists: their pages, and their items read one by one.

use crate::{Raw, view::view};
use serde::de::DeserializeOwned;

view! {
    /// The parameters of every list request.
    pub struct PageParams {
    } optional {
        /// Opaque. An empty cursor is valid.
        cursor: String = "cursor",
        meta: Raw = "_meta",
    }
}

/// An item of a list that could not be read. The other items are not affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("item {index}{} cannot be read: {reason}", name.as_ref().map(|n| format!(" (`{n}`)")).unwrap_or_default())]
pub struct BadItem {
    pub index: usize,
    /// Its `name` or `uri`, if that can be read.
    pub name: Option<String>,
    pub reason: String,
}

/// The cursor of the next page; `None` at the end.
pub fn next_cursor(result: &Raw) -> Option<String> {
    result.member_as("nextCursor")
}

/// Reads the items of a list independently of each other.
pub fn read_items<T: DeserializeOwned>(items: &[Raw]) -> (Vec<T>, Vec<BadItem>) {
    let (mut good, mut bad) = (Vec::with_capacity(items.len()), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match item.decode() {
            Ok(item) => good.push(item),
            Err(error) => {
                let name = ["name", "uri", "uriTemplate", "taskId"].iter().find_map(|m| item.member_as(m));
                bad.push(BadItem { index, name, reason: error.to_string() });
            }
        }
    }
    (good, bad)
}

/// Implements `items` for a list result.
macro_rules! items {
    ($list:ident, $member:ident: $item:ty) => {
        impl $list {
            /// The items that can be read, and the errors of the others.
            pub fn items(&self) -> (Vec<$item>, Vec<$crate::message::BadItem>) {
                $crate::message::read_items(&self.$member)
            }
        }
    };
}

pub(super) use items;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Root;

    #[test]
    fn an_empty_cursor_is_a_cursor_and_null_is_the_end() {
        let cursor = |text: &str| next_cursor(&Raw::parse(text.to_owned()).unwrap());
        assert_eq!(cursor(r#"{"nextCursor":""}"#), Some(String::new()));
        assert_eq!(cursor(r#"{"nextCursor":null}"#), None);
        assert_eq!(cursor("{}"), None);
    }

    #[test]
    fn a_bad_item_costs_only_itself() {
        let texts =
            [r#"{"uri":"file:///a"}"#, r#"{"uri":"file:///b","name":7}"#, "3", r#"{"uri":"file:///c"}"#];
        let items: Vec<_> = texts.map(|t| Raw::parse(t).unwrap()).into();
        let (good, bad) = read_items::<Root>(&items);
        assert_eq!(good.iter().map(|r| r.uri.as_str()).collect::<Vec<_>>(), ["file:///a", "file:///c"]);
        assert_eq!(
            bad.iter().map(|b| (b.index, b.name.as_deref())).collect::<Vec<_>>(),
            [(1, Some("file:///b")), (2, None)]
        );
        assert!(bad[0].to_string().starts_with("item 1 (`file:///b`) cannot be read: `name`: invalid type"));
    }
}
