//! The tools that convert files, and the answer of all conversions.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use trunkline_documents::Format;
use trunkline_protocol::{
    Number, Raw,
    message::{CallToolResult, ContentBlock, ResourceLink},
};
use trunkline_toolbox::{Context, Tool, ToolError, output_schema};

use super::converter::{Converted, SourceFile};
use super::input::Source;
use super::pack::Documents;
use super::resources;
use super::summary::Summary;

/// Steps of a conversion, for progress.
pub(super) const STEPS: u64 = 3;

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// Path of the file, inside the allowed directories; either this or `content`
    path: Option<String>,
    /// The file's bytes in base64
    content: Option<String>,
    /// File name of `content`, such as `report.pdf`
    name: Option<String>,
}

/// The answer of a conversion.
#[derive(Serialize, JsonSchema)]
struct Answer {
    /// Handle of the document, for the export tools
    document_id: String,
    /// The format of the source, such as `docx`
    format: String,
    #[serde(flatten)]
    summary: Summary,
    /// URI of the document's JSON; `/markdown`, `/pages/N` and `/sections/N` are its parts
    uri: String,
    /// Bytes of the document's JSON
    json_bytes: usize,
    /// Seconds until the handle expires
    expires_in: u64,
    /// The `DoclingDocument`; absent if it is large
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    document: Option<Box<RawValue>>,
}

/// The conversion tool for one format, or for all formats if `format` is `None`.
pub(super) fn tool(documents: &Arc<Documents>, name: &str, format: Option<Format>) -> Tool {
    let shared = Arc::clone(documents);
    let kind = format.map_or("a document of any known format".to_owned(), |format| {
        format!("a {} file", format.name().to_uppercase())
    });
    let more = match format {
        Some(_) => String::new(),
        None => {
            format!(" Known formats: {}.", Format::all().map(Format::name).collect::<Vec<_>>().join(", "))
        }
    };
    Tool::new(name, move |cx: Context, args: Args| {
        let documents = Arc::clone(&shared);
        async move { run(&documents, &cx, args, format).await }
    })
    .title(format!("Convert {}", format.map_or("document".to_owned(), |format| format.name().to_uppercase())))
    .description(format!(
        "Converts {kind} to a DoclingDocument: headings, paragraphs, lists, tables and pictures in reading \
         order. Returns counts, the outline and a handle (document_id) for export_markdown, export_html and \
         export_json; the document itself only if it is small.{more}"
    ))
    .output_schema(output_schema::<Answer>())
    .deadline(documents.longest_call())
    .result_budget(documents.result_budget())
    .read_only()
    .closed_world()
}

async fn run(
    documents: &Documents,
    cx: &Context,
    args: Args,
    format: Option<Format>,
) -> Result<CallToolResult, ToolError> {
    let slot = documents.slot(cx).await;
    cx.progress(0, Some(STEPS), "reading");
    let source = source(documents, &args).await?;
    let format = source.format(format)?;
    cx.progress(1, Some(STEPS), format!("converting {}", format.name()));
    let file = SourceFile { bytes: &source.bytes, format, name: source.name.as_deref() };
    let converted = documents.convert(&slot, cx, file).await?;
    drop((slot, source));
    answer(documents, cx, format, converted).await
}

async fn source(documents: &Documents, args: &Args) -> Result<Source, ToolError> {
    let limit = documents.converter.limits().file;
    match (&args.path, &args.content) {
        (Some(path), None) => {
            let (sandbox, path) = (documents.sandbox.clone(), path.clone());
            let read = move || Source::read(&sandbox, &path, limit);
            tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| {
                Err(ToolError::new("the file was not read").detail(error.to_string()))
            })
        }
        (None, Some(content)) => Source::decode(content, args.name.clone(), limit),
        (Some(_), Some(_)) | (None, None) => {
            Err(ToolError::new("expected either `path` or `content`, and not both"))
        }
    }
}

/// Keeps the document and describes it.
pub(super) async fn answer(
    documents: &Documents,
    cx: &Context,
    format: Format,
    converted: Converted,
) -> Result<CallToolResult, ToolError> {
    cx.progress(2, Some(STEPS), "keeping the document");
    let Converted { summary, json } = converted;
    let json_bytes = json.len();
    let inline = json_bytes <= documents.keeping.inline;
    let document = if inline { serde_json::from_slice(&json).ok() } else { None };
    let document_id = documents.handles.keep(cx.caller(), &summary, json).await?;
    let text = text(&summary, format, &document_id);
    let uri = resources::uri(&document_id);
    let mut link = ResourceLink::new(uri.clone(), summary.name.clone());
    link.description = Some("The DoclingDocument as JSON".to_owned());
    link.mime_type = Some("application/json".to_owned());
    link.size = Some(Number::from(json_bytes as u64));
    let answer = Answer {
        document_id,
        format: format.name().to_owned(),
        summary,
        uri,
        json_bytes,
        expires_in: documents.keeping.lifetime.as_secs(),
        document,
    };
    let facts = Raw::encode(&answer)
        .map_err(|error| ToolError::new("the result cannot be written as JSON").detail(error.to_string()))?;
    cx.progress(STEPS, Some(STEPS), "done");
    Ok(CallToolResult {
        content: Some(vec![ContentBlock::text(text), link.into()]),
        structured_content: Some(facts),
        ..CallToolResult::default()
    })
}

/// The answer for models that read only text.
fn text(summary: &Summary, format: Format, handle: &str) -> String {
    let Summary { name, pages, texts, headings, tables, pictures, .. } = summary;
    format!(
        "Converted {name} ({}): {pages} pages, {texts} texts, {headings} headings, {tables} tables, \
         {pictures} pictures. Its handle is {handle}: pass it as document_id to export_markdown, \
         export_html or export_json.",
        format.name()
    )
}
