//! The setters that tools, prompts, resources and templates have in common. Each type gets them as
//! its own methods, so that nobody has to import a trait.

/// Title, description, icons and permissions, for a type with `definition` and `permissions`.
macro_rules! common_setters {
    ($type:ty, $thing:literal) => {
        impl $type {
            /// Sets the name shown to people.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.definition.title = Some(title.into());
                self
            }

            #[doc = concat!("Sets the description by which a model or a user chooses the ", $thing, ".")]
            #[must_use]
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.definition.description = Some(description.into());
                self
            }

            #[must_use]
            pub fn icons(mut self, icons: Vec<trunkline_protocol::message::Icon>) -> Self {
                self.definition.icons = Some(icons);
                self
            }

            /// Requires this scope in the caller's token; if called repeatedly, all of the scopes.
            #[doc = concat!("For other callers the ", $thing, " does not exist.")]
            #[must_use]
            pub fn require_scope(mut self, scope: impl Into<String>) -> Self {
                self.permissions.scopes.push(scope.into());
                self
            }

            /// Requires one of the roles named by calls of this method.
            #[doc = concat!("For callers with none of them the ", $thing, " does not exist.")]
            #[must_use]
            pub fn require_role(mut self, role: impl Into<String>) -> Self {
                self.permissions.roles.push(role.into());
                self
            }
        }
    };
}

/// The whole `_meta`. (A tool has its own setter, which adds single keys.)
macro_rules! meta_setter {
    ($type:ty) => {
        impl $type {
            /// Sets the `_meta` shown in the list.
            #[must_use]
            pub fn meta(mut self, meta: trunkline_protocol::Raw) -> Self {
                self.definition.meta = Some(meta);
                self
            }
        }
    };
}

/// The facts about what a reader returns.
macro_rules! content_setters {
    ($type:ty) => {
        impl $type {
            #[must_use]
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.definition.mime_type = Some(mime_type.into());
                self
            }

            #[must_use]
            pub fn annotations(mut self, annotations: trunkline_protocol::message::Annotations) -> Self {
                self.definition.annotations = Some(annotations);
                self
            }
        }
    };
}

/// The completion of arguments or variables, for a type with `completers`.
macro_rules! completion_setters {
    ($type:ty, $blank:literal) => {
        impl $type {
            #[doc = concat!("Adds a function that completes ", $blank, ".")]
            #[must_use]
            pub fn complete<F, Fut>(mut self, name: impl Into<String>, completer: F) -> Self
            where
                F: Fn($crate::Context, $crate::CompletionRequest) -> Fut + Send + Sync + 'static,
                Fut: Future<Output = Result<Vec<String>, $crate::ToolError>> + Send + 'static,
            {
                self.completers.add(name.into(), completer);
                self
            }

            #[doc = concat!("Completes ", $blank, " from a fixed list.")]
            #[must_use]
            pub fn complete_from<V: Into<String>>(
                mut self,
                name: impl Into<String>,
                values: impl IntoIterator<Item = V>,
            ) -> Self {
                self.completers.add_values(name.into(), values.into_iter().map(Into::into).collect());
                self
            }
        }
    };
}

pub(crate) use {common_setters, completion_setters, content_setters, meta_setter};
