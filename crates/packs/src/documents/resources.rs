//! Converted documents as resources: whole, as Markdown, by page and by section.

use std::sync::Arc;

use trunkline_toolbox::{Context, ReadRequest, Template, ToolError};

use super::failure::DocumentFailure;
use super::pack::Documents;
use super::work::{ExportFormat, ExportStyle, Part, Written};
use trunkline_protocol::FaultKind;

/// Largest part that is read as a resource.
const LARGEST: usize = 8 << 20;

/// The URI of a document.
pub(super) fn uri(handle: &str) -> String {
    format!("document://{handle}")
}

pub(super) fn templates(documents: &Arc<Documents>) -> Vec<Template> {
    use ExportFormat::{Json, Markdown};
    let rows = [
        ("document://{id}", "Converted document", "The DoclingDocument as JSON", Json),
        ("document://{id}/markdown", "Document as Markdown", "The whole document", Markdown),
        ("document://{id}/outline", "Outline of a document", "Counts and first headings", Json),
        ("document://{id}/pages/{page}", "Page of a document", "One page, slide or sheet", Markdown),
        ("document://{id}/sections/{section}", "Section of a document", "A heading and all below", Markdown),
    ];
    let template = |(uri, name, description, to): (&'static str, &str, &str, ExportFormat)| {
        let shared = Arc::clone(documents);
        Template::new(uri, name, move |cx: Context, request: ReadRequest| {
            let documents = Arc::clone(&shared);
            async move { read(&documents, &cx, &request, to).await }
        })
        .description(description)
        .mime_type(to.media_type())
    };
    rows.into_iter().map(template).collect()
}

async fn read(
    documents: &Documents,
    cx: &Context,
    request: &ReadRequest,
    to: ExportFormat,
) -> Result<String, ToolError> {
    let variable = |name: &str| request.variables.get(name).map(String::as_str);
    let handle = variable("id").unwrap_or_default();
    if request.uri.ends_with("/outline") {
        let kept = documents.handles.info(cx.caller(), handle).await?;
        return serde_json::to_string(&kept.summary)
            .map_err(|error| ToolError::new("the outline cannot be written").detail(error.to_string()));
    }
    let part = match (variable("page"), variable("section")) {
        (Some(page), _) => Part::Page(number(page)?),
        (None, Some(section)) => Part::Section(number(section)?),
        (None, None) => Part::Whole,
    };
    let slot = documents.slot(cx).await;
    let json = documents.handles.load(cx.caller(), handle).await?;
    let text = match (to, part) {
        (ExportFormat::Json, Part::Whole) => {
            String::from_utf8(json).map_err(|_| ToolError::new("the document is damaged"))?
        }
        _ => {
            documents
                .converter
                .export(&slot, &json, Written { to, style: ExportStyle::Reading }, part)
                .await?
        }
    };
    if text.len() > LARGEST {
        let message =
            format!("the document has {} bytes, more than the {LARGEST} of one resource", text.len());
        return Err(DocumentFailure::new(FaultKind::FileTooLarge, message)
            .hint("read it by pages or sections: …/pages/N, …/sections/N")
            .into());
    }
    Ok(text)
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, ToolError> {
    text.parse().map_err(|_| ToolError::not_found(format!("`{text}` is not a number")))
}
