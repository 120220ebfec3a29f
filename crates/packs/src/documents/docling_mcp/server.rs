//! Conversions by the tools of `docling-mcp`.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trunkline_protocol::{
    Call, Caller, Fault, FaultKind, Origin, Raw, Session,
    message::{CallToolResult, ContentBlock},
    method,
};
use trunkline_resilience::{FairSlot, timeout};
use trunkline_toolbox::ToolError;

use super::exchange_folder::ExchangeFolder;
use crate::documents::converter::{Converted, Converter, SourceFile};
use crate::documents::failure::DocumentFailure;

/// Longest text of the server that an error repeats, in characters.
const LONGEST_TEXT: usize = 500;

/// A session with the server, on behalf of any caller.
#[derive(Clone)]
pub struct DoclingMcp {
    session: Arc<dyn Session>,
    folder: ExchangeFolder,
}

#[derive(Deserialize)]
struct Key {
    document_key: String,
}

#[derive(Deserialize)]
struct Saved {
    md_file: String,
    json_file: String,
}

impl DoclingMcp {
    pub(super) fn new(session: Arc<dyn Session>, folder: ExchangeFolder) -> Self {
        Self { session, folder }
    }

    /// Converts a file. `converter` checks the JSON that the server wrote, in a child process.
    pub(in crate::documents) async fn convert(
        &self,
        converter: &Converter,
        slot: &FairSlot,
        caller: &Caller,
        file: SourceFile<'_>,
    ) -> Result<Converted, ToolError> {
        let limits = converter.limits();
        let size = file.bytes.len() as u64;
        if size > limits.file {
            return Err(DocumentFailure::too_large(size, limits.file).into());
        }
        let time = limits.time(size);
        let (json, note) = timeout(time, self.fetch(caller, file, limits.output))
            .await
            .unwrap_or_else(|| Err(DocumentFailure::timed_out(FaultKind::ConversionFailed, time).into()))?;
        Ok(converter.check(slot, &json, note).await?)
    }

    /// The JSON of the document, and the text that the server adds to each.
    async fn fetch(
        &self,
        caller: &Caller,
        file: SourceFile<'_>,
        largest: usize,
    ) -> Result<(Vec<u8>, String), ToolError> {
        let deposited = self.folder.put(file.bytes, file.format, file.name).map_err(|error| {
            failed("the document could not be handed to the server").detail(error.to_string())
        })?;
        let source = deposited.path.display().to_string();
        let arguments = json!({ "source": source });
        let key: Key = self.call(caller, "convert_document_into_docling_document", &arguments).await?;
        let arguments = json!({ "document_key": key.document_key });
        let saved: Saved = self.call(caller, "save_docling_document", &arguments).await?;
        self.folder.remove(&saved.md_file);
        let folder = self.folder.clone();
        let take = move || folder.take(&saved.json_file, largest as u64);
        let json = tokio::task::spawn_blocking(take).await.unwrap_or_else(|error| {
            Err(ToolError::new("the document was not read").detail(error.to_string()))
        })?;
        Ok((json, format!("source: {source}")))
    }

    async fn call<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        tool: &'static str,
        arguments: &Value,
    ) -> Result<T, ToolError> {
        let params = Raw::from(json!({ "name": tool, "arguments": arguments }));
        let mut call = Call::new(method::TOOLS_CALL, Some(params));
        call.caller = Arc::new(caller.clone());
        call.origin = Origin::Ourselves;
        // A fault stays one: it counts for the breaker, and its code is that of any other call.
        let result = self.session.call(call).outcome().await?;
        let nonsense = |detail: String| {
            Fault::new(FaultKind::BadAnswer, format!("`{tool}` answered something else than docling-mcp's"))
                .with_detail(detail)
        };
        let result: CallToolResult = result.decode().map_err(|error| nonsense(error.to_string()))?;
        if result.failed() {
            return Err(refused(&text(&result)).into());
        }
        let facts = result.structured_content.as_ref().map(|facts| facts.as_str().to_owned());
        serde_json::from_str(&facts.unwrap_or_else(|| text(&result)))
            .map_err(|error| nonsense(error.to_string()).into())
    }
}

/// The server's text is repeated, because it is all that is known.
fn refused(text: &str) -> DocumentFailure {
    let text: String = text.chars().take(LONGEST_TEXT).collect();
    failed(format!("docling-mcp did not convert the document: {text}"))
        .hint("its log has the reason; with `DOCLING_MCP_CONVERSION_MODE=local` it needs no other server")
}

fn failed(message: impl Into<String>) -> DocumentFailure {
    DocumentFailure::new(FaultKind::ConversionFailed, message)
}

fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().flatten().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

impl fmt::Debug for DoclingMcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoclingMcp").field("folder", &self.folder).finish_non_exhaustive()
    }
}
