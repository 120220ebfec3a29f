//! Return types of resource readers: text, bytes, or `ResourceContents`.

use crate::ToolError;
use base64::{Engine, prelude::BASE64_STANDARD};
use trunkline_protocol::message::{BlobContents, ResourceContents, TextContents};

/// A type that a resource reader can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the contents of a resource",
    note = "return text, bytes (`Vec<u8>`), `ResourceContents`, a list of these, or a `Result` of one and `ToolError`"
)]
pub trait IntoContents {
    /// `uri` and `mime_type` are those of the resource.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError>;
}

impl IntoContents for String {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError> {
        let mut contents = TextContents::new(uri, self);
        contents.mime_type = mime_type.map(str::to_owned);
        Ok(vec![ResourceContents::Text(contents)])
    }
}

impl IntoContents for &str {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError> {
        self.to_owned().into_contents(uri, mime_type)
    }
}

impl IntoContents for Vec<u8> {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError> {
        let mut contents = BlobContents::new(uri, BASE64_STANDARD.encode(self));
        contents.mime_type = mime_type.map(str::to_owned);
        Ok(vec![ResourceContents::Blob(contents)])
    }
}

impl IntoContents for ResourceContents {
    fn into_contents(self, _uri: &str, _mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError> {
        Ok(vec![self])
    }
}

impl IntoContents for Vec<ResourceContents> {
    fn into_contents(self, _uri: &str, _mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError> {
        Ok(self)
    }
}

impl<T: IntoContents, E: Into<ToolError>> IntoContents for Result<T, E> {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, ToolError> {
        self.map_err(Into::into)?.into_contents(uri, mime_type)
    }
}
