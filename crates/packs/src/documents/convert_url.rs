//! `convert_url`: fetches a URL and converts what it finds there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use trunkline_documents::Format;
use trunkline_protocol::message::CallToolResult;
use trunkline_toolbox::{Context, Tool, ToolError};

use super::convert::{self, STEPS};
use super::converter::SourceFile;
use super::failure::DocumentFailure;
use super::fetch_url::{FetchUrl, FetchedUrl};
use super::options::ConversionLimits;
use super::pack::Documents;

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// An http or https URL of the public Internet
    url: String,
}

pub(super) fn tool(documents: &Arc<Documents>, fetch: &Arc<dyn FetchUrl>) -> Tool {
    let (shared, fetch) = (Arc::clone(documents), Arc::clone(fetch));
    Tool::new("convert_url", move |cx: Context, args: Args| {
        let (documents, fetch) = (Arc::clone(&shared), Arc::clone(&fetch));
        async move { run(&documents, &*fetch, &cx, args).await }
    })
    .title("Convert URL")
    .description(
        "Fetches a web page, PDF or office document by its URL and converts it to a DoclingDocument. Only \
         public addresses are fetched. Answers like convert_pdf: counts, outline and a handle.",
    )
    .deadline(ConversionLimits::URL)
    .result_budget(documents.result_budget())
    .read_only()
    .open_world()
}

async fn run(
    documents: &Documents,
    fetch: &dyn FetchUrl,
    cx: &Context,
    args: Args,
) -> Result<CallToolResult, ToolError> {
    cx.progress(0, Some(STEPS), "fetching");
    let fetched = fetch.fetch(args.url).await?;
    let format = format(&fetched)?;
    let slot = documents.slot(cx).await;
    cx.progress(1, Some(STEPS), format!("converting {}", format.name()));
    let file = SourceFile { bytes: &fetched.bytes, format, name: fetched.name() };
    let converted = documents.convert(&slot, cx, file).await?;
    drop((slot, fetched));
    convert::answer(documents, cx, format, converted).await
}

/// The format, by content, then by the server's media type, then by the URL.
pub fn format(fetched: &FetchedUrl) -> Result<Format, DocumentFailure> {
    let by_content = Format::detect(None, &fetched.bytes).filter(|format| *format != Format::Text);
    let media_type = fetched.media_type.as_deref().unwrap_or_default();
    let by_type = || Format::all().find(|format| format.media_type().eq_ignore_ascii_case(media_type));
    by_content
        .or_else(by_type)
        .or_else(|| Format::detect(fetched.name(), &fetched.bytes))
        .ok_or_else(|| DocumentFailure::unknown_format(Some(&fetched.url)))
}
