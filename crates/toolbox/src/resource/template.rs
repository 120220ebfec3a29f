//! Template: a family of resources.

use super::{IntoContents, ReadRequest, Reader, into_reader};
use crate::{
    Context, Permissions,
    completion::Completers,
    setters::{common_setters, completion_setters, content_setters, meta_setter},
};
use std::fmt;
use trunkline_protocol::message;

/// A family of resources by an RFC 6570 template, such as `notes://{notebook}/{+path}`.
#[derive(Clone)]
pub struct Template {
    pub(crate) definition: message::ResourceTemplate,
    pub(crate) reader: Reader,
    pub(crate) permissions: Permissions,
    pub(crate) completers: Completers,
}

impl Template {
    pub fn new<F, Fut>(uri_template: impl Into<String>, name: impl Into<String>, reader: F) -> Self
    where
        F: Fn(Context, ReadRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoContents> + Send + 'static,
    {
        Self {
            definition: message::ResourceTemplate::new(uri_template, name),
            reader: into_reader(reader),
            permissions: Permissions::default(),
            completers: Completers::default(),
        }
    }

    pub fn uri_template(&self) -> &str {
        &self.definition.uri_template
    }
}

common_setters!(Template, "family");
meta_setter!(Template);
content_setters!(Template);
completion_setters!(Template, "a variable");

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("definition", &self.definition).finish_non_exhaustive()
    }
}
