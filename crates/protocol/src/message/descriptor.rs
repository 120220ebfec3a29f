//! What several kinds of message share: icons, annotations, roles.

use crate::{
    Number,
    view::{view, words},
};

view! {
    /// A picture for a user interface. Nothing here is ever fetched by itself.
    pub struct Icon {
        src: String = "src",
    } optional {
        mime_type: String = "mimeType",
        sizes: Vec<String> = "sizes",
        theme: String = "theme",
    }

    /// Hints about content: for whom, how important, how old.
    pub struct Annotations {
    } optional {
        audience: Vec<Role> = "audience",
        /// From 0 to 1.
        priority: Number = "priority",
        last_modified: String = "lastModified",
    }
}

words! {
    /// Who speaks, or for whom something is meant.
    pub enum Role {
        User = "user",
        Assistant = "assistant",
    }
}
