//! Resources: single ones, and families described by a URI template.

mod contents;
mod template;
mod uri_template;

use crate::{
    Context, Permissions, ToolError,
    setters::{common_setters, content_setters, meta_setter},
};
use futures_util::{FutureExt, future::BoxFuture};
use std::{collections::BTreeMap, fmt, sync::Arc};
use trunkline_protocol::{
    Number,
    message::{self, ResourceContents},
};

pub use contents::IntoContents;
pub use template::Template;
pub use uri_template::BadTemplate;
pub(crate) use uri_template::{UriTemplate, Variables};

/// A request to read one resource.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    pub uri: String,
    /// The values of the template's variables, decoded.
    pub variables: BTreeMap<String, String>,
}

pub(crate) type Reader = Arc<
    dyn Fn(Context, ReadRequest) -> BoxFuture<'static, Result<Vec<ResourceContents>, ToolError>>
        + Send
        + Sync,
>;

/// One resource and its metadata.
#[derive(Clone)]
pub struct Resource {
    pub(crate) definition: message::Resource,
    pub(crate) reader: Reader,
    pub(crate) permissions: Permissions,
}

impl Resource {
    /// A resource whose reader runs for every read.
    pub fn new<F, Fut>(uri: impl Into<String>, name: impl Into<String>, reader: F) -> Self
    where
        F: Fn(Context, ReadRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoContents> + Send + 'static,
    {
        let definition = message::Resource::new(uri, name);
        Self { definition, reader: into_reader(reader), permissions: Permissions::default() }
    }

    /// A constant text.
    pub fn text(uri: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let size = text.len();
        let reader = move |_, _| std::future::ready(text.clone());
        Self::new(uri, name, reader).mime_type("text/plain").size(size)
    }

    /// Constant bytes.
    pub fn bytes(uri: impl Into<String>, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let size = bytes.len();
        Self::new(uri, name, move |_, _| std::future::ready(bytes.clone())).size(size)
    }

    pub fn uri(&self) -> &str {
        &self.definition.uri
    }

    /// Size in bytes, before any encoding.
    #[must_use]
    pub fn size(mut self, bytes: usize) -> Self {
        self.definition.size = Some(Number::from(bytes as u64));
        self
    }
}

common_setters!(Resource, "resource");
meta_setter!(Resource);
content_setters!(Resource);

/// A reader from a function. The contents have no MIME type; the caller fills in the listed one.
fn into_reader<F, Fut>(reader: F) -> Reader
where
    F: Fn(Context, ReadRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoContents> + Send + 'static,
{
    Arc::new(move |cx, request| {
        let uri = request.uri.clone();
        reader(cx, request).map(move |contents| contents.into_contents(&uri, None)).boxed()
    })
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("definition", &self.definition).finish_non_exhaustive()
    }
}
