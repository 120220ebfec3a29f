//! The program that converts documents.

use trunkline_documents::Format;
use trunkline_toolbox::{Context, ToolError};

use super::converter::{Converted, Converter};
use super::docling_mcp::DoclingMcp;

/// Converts documents. Exports are always our own.
#[derive(Debug, Clone, Default)]
pub enum Engine {
    /// Our own readers, in a child process.
    #[default]
    Child,
    DoclingMcp(DoclingMcp),
}

impl Engine {
    pub(super) async fn convert(
        &self,
        converter: &Converter,
        cx: &Context,
        (bytes, format, name): (&[u8], Format, Option<&str>),
    ) -> Result<Converted, ToolError> {
        match self {
            Self::Child => Ok(converter.convert(bytes, format, name).await?),
            Self::DoclingMcp(server) => server.convert(converter, cx.caller(), (bytes, format, name)).await,
        }
    }
}
