//! The program that converts documents.

use trunkline_resilience::FairSlot;
use trunkline_toolbox::{Context, ToolError};

use super::converter::{Converted, Converter, SourceFile};
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
        slot: &FairSlot,
        cx: &Context,
        file: SourceFile<'_>,
    ) -> Result<Converted, ToolError> {
        match self {
            Self::Child => Ok(converter.convert(slot, file).await?),
            Self::DoclingMcp(server) => server.convert(converter, slot, cx.caller(), file).await,
        }
    }
}
