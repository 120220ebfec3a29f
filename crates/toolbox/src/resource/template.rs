//! Template: a family of resources.

use super::{IntoContents, ReadRequest, Reader, into_reader};
use crate::{CompletionRequest, Context, Permissions, ToolError, completion::Completers};
use std::fmt;
use trunkline_protocol::{
    Raw,
    message::{self, Annotations, Icon},
};

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

    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.definition.icons = Some(icons);
        self
    }

    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// Sets the `_meta` shown in the list.
    #[must_use]
    pub fn meta(mut self, meta: Raw) -> Self {
        self.definition.meta = Some(meta);
        self
    }

    /// Adds a function that completes a variable.
    #[must_use]
    pub fn complete<F, Fut>(mut self, variable: impl Into<String>, completer: F) -> Self
    where
        F: Fn(Context, CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<String>, ToolError>> + Send + 'static,
    {
        self.completers.add(variable.into(), completer);
        self
    }

    /// Completes a variable from a fixed list.
    #[must_use]
    pub fn complete_from<V: Into<String>>(
        mut self,
        variable: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.completers.add_values(variable.into(), values.into_iter().map(Into::into).collect());
        self
    }

    /// Requires this scope in the caller's token. For other callers the family does not exist.
    #[must_use]
    pub fn require_scope(mut self, scope: impl Into<String>) -> Self {
        self.permissions.scopes.push(scope.into());
        self
    }

    /// Requires one of the roles named by calls of this method. For callers with none of them the
    /// family does not exist.
    #[must_use]
    pub fn require_role(mut self, role: impl Into<String>) -> Self {
        self.permissions.roles.push(role.into());
        self
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("definition", &self.definition).finish_non_exhaustive()
    }
}
