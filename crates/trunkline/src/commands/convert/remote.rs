//! Converts with the document tools of a server.

use super::{job::Convert, upstream::ConfiguredServer};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trunkline_client::Client;
use trunkline_packs::documents::{DocumentFailure, ExportFormat, format_of_file, tool_for};
use trunkline_protocol::{
    Fault, FaultKind, Object, Raw,
    message::{CallToolResult, ContentBlock, failure_kind},
};

/// Largest file that is sent, so that its base64 fits into the usual limit of a request.
const LARGEST: u64 = 7_000_000;
/// Advice for a server that does not have our tools.
const NO_SUCH_TOOL: &str = "the server needs the tools convert_* and export_*; docling-mcp has them with \
                            `\"adapter\": \"docling-mcp\"` in its configuration";

/// A server with the document tools.
pub(super) enum Remote<'a> {
    /// At an address.
    Client(&'a Client),
    Configured(&'a ConfiguredServer),
}

impl Remote<'_> {
    /// Converts with one tool and exports with another.
    async fn convert(
        &self,
        tool: &str,
        arguments: Value,
        to: ExportFormat,
    ) -> Result<String, DocumentFailure> {
        let converted = self.call(tool, &arguments, FaultKind::ConversionFailed).await?;
        let facts: Option<Value> =
            converted.structured_content.as_ref().and_then(|facts| serde_json::from_str(facts.as_str()).ok());
        let handle = facts.as_ref().and_then(|facts| facts["document_id"].as_str()).ok_or_else(|| {
            let message = format!("{tool} of the server returned no document_id");
            DocumentFailure::new(FaultKind::ConversionFailed, message)
        })?;
        let export = match to {
            ExportFormat::Markdown => "export_markdown",
            ExportFormat::Html => "export_html",
            ExportFormat::Json => "export_json",
        };
        let exported = self.call(export, &json!({ "document_id": handle }), FaultKind::ExportFailed).await?;
        Ok(text(&exported))
    }

    async fn call(
        &self,
        tool: &str,
        arguments: &Value,
        kind: FaultKind,
    ) -> Result<CallToolResult, DocumentFailure> {
        let failed = |kind, text: String| DocumentFailure::new(kind, text);
        let result = self.send(tool, arguments).await.map_err(|fault| {
            let failure = failed(fault.kind(), fault.message().to_owned());
            match fault.kind() {
                FaultKind::NotAvailable => failure.hint(NO_SUCH_TOOL),
                _ => failure,
            }
        })?;
        if result.failed() {
            let reported = Raw::encode(&result).ok().and_then(|raw| failure_kind(&raw));
            return Err(failed(reported.unwrap_or(kind), text(&result)));
        }
        Ok(result)
    }

    async fn send(&self, tool: &str, arguments: &Value) -> Result<CallToolResult, Fault> {
        match self {
            Self::Client(client) => {
                let object: Object = Raw::from(arguments.clone()).object().unwrap_or_default();
                client.call(tool, object).await
            }
            Self::Configured(server) => server.call(tool, arguments).await,
        }
    }
}

impl Convert for Remote<'_> {
    fn largest(&self) -> u64 {
        LARGEST
    }

    async fn file(
        &self,
        bytes: Vec<u8>,
        name: Option<&str>,
        to: ExportFormat,
    ) -> Result<String, DocumentFailure> {
        let tool = tool_for(format_of_file(name, &bytes)?);
        let arguments = json!({ "content": BASE64_STANDARD.encode(&bytes), "name": name });
        self.convert(tool, arguments, to).await
    }

    async fn url(&self, url: &str, to: ExportFormat) -> Result<String, DocumentFailure> {
        self.convert("convert_url", json!({ "url": url }), to).await
    }
}

/// The text of a result.
fn text(result: &CallToolResult) -> String {
    let blocks = result.content.iter().flatten();
    let texts = blocks.filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
