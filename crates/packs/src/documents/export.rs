//! The tools that export documents.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use trunkline_toolbox::{Context, Tool, ToolError};

use super::options::ConversionLimits;
use super::pack::Documents;
use super::work::{ExportFormat, ExportStyle, Part, Written};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// Handle of a converted document; either this or `document`
    document_id: Option<String>,
    /// A `DoclingDocument`
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    document: Option<Box<RawValue>>,
    /// Only this page, slide or sheet
    page: Option<i64>,
    /// Only the section of this heading, by its position in the outline, from 0
    section: Option<usize>,
}

pub(super) fn tool(documents: &Arc<Documents>, to: ExportFormat) -> Tool {
    let (name, title, what) = match to {
        ExportFormat::Markdown => ("export_markdown", "Export as Markdown", "Markdown"),
        ExportFormat::Html => ("export_html", "Export as HTML", "HTML"),
        ExportFormat::Json => ("export_json", "Export as JSON", "the JSON of a DoclingDocument"),
    };
    let shared = Arc::clone(documents);
    Tool::new(name, move |cx: Context, args: Args| {
        let documents = Arc::clone(&shared);
        async move { run(&documents, &cx, args, to).await }
    })
    .title(title)
    .description(format!(
        "Writes a converted document as {what}: the whole document, one page or one section. Pass the \
         document_id of a conversion, or a DoclingDocument."
    ))
    .deadline(ConversionLimits::EXPORT)
    .read_only()
    .idempotent()
    .closed_world()
}

async fn run(documents: &Documents, cx: &Context, args: Args, to: ExportFormat) -> Result<String, ToolError> {
    let part = match (args.page, args.section) {
        (None, None) => Part::Whole,
        (Some(page), None) => Part::Page(page),
        (None, Some(section)) => Part::Section(section),
        (Some(_), Some(_)) => {
            return Err(ToolError::new("expected either `page` or `section`, and not both"));
        }
    };
    let slot = documents.slot(cx).await;
    // A document of ours is written for its reader, that of a client exactly as docling-core does.
    let (json, style) = match (&args.document_id, &args.document) {
        (Some(handle), None) => (documents.handles.load(cx.caller(), handle).await?, ExportStyle::Reading),
        (None, Some(document)) => (document.get().as_bytes().to_vec(), ExportStyle::Plain),
        (Some(_), Some(_)) | (None, None) => {
            return Err(ToolError::new("expected either `document_id` or `document`, and not both")
                .hint("a conversion returns the document_id"));
        }
    };
    cx.progress(0, Some(1), "exporting");
    Ok(documents.converter.export(&slot, &json, Written { to, style }, part).await?)
}
