//! Roots: the places a client lets a server know of.

use super::list::items;
use crate::{Raw, view::view};

view! {
    /// A place, by the specification a `file://` one. Advice, not access control.
    pub struct Root {
        uri: String = "uri",
    } optional {
        name: String = "name",
        meta: Raw = "_meta",
    }

    /// The answer to `roots/list`.
    pub struct ListRootsResult {
        roots: Vec<Raw> = "roots",
    } optional {
        meta: Raw = "_meta",
    }
}

items!(ListRootsResult, roots: Root);
