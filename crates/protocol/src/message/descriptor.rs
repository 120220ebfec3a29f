//! Types shared by several messages: icons, annotations, roles.

use crate::{
    Number,
    view::{view, words},
};

view! {
    /// An image for a user interface. We never fetch it on our own.
    pub struct Icon {
        src: String = "src",
    } optional {
        mime_type: String = "mimeType",
        sizes: Vec<String> = "sizes",
        theme: String = "theme",
    }

    /// Hints about content: audience, importance and age.
    pub struct Annotations {
    } optional {
        audience: Vec<Role> = "audience",
        /// From 0 to 1.
        priority: Number = "priority",
        last_modified: String = "lastModified",
    }
}

words! {
    /// The sender of a message, or the audience of content.
    pub enum Role {
        User = "user",
        Assistant = "assistant",
    }
}
