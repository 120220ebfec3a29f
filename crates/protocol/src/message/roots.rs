//! Roots: the directories that a client tells a server to work in.

use super::list::items;
use crate::{Raw, view::view};

view! {
    /// A root; the specification allows only `file://` URIs. It is informational, not access
    /// control.
    pub struct Root {
        uri: String = "uri",
    } optional {
        name: String = "name",
        meta: Raw = "_meta",
    }

    /// The result of `roots/list`.
    pub struct ListRootsResult {
        roots: Vec<Raw> = "roots",
    } optional {
        meta: Raw = "_meta",
    }
}

items!(ListRootsResult, roots: Root);
