//! `read_media_file`: returns an image or sound as a content block for models, and any other file
//! as an embedded resource.

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trunkline_protocol::Raw;
use trunkline_protocol::message::{
    AudioContent, BlobContents, CallToolResult, ContentBlock, EmbeddedResource, ImageContent,
    ResourceContents,
};

use super::budget::{self, Budget};
use super::{Filesystem, io_failed, window};
use trunkline_toolbox::{Tool, ToolError, output_schema};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Image, sound or other binary file
    path: String,
}

/// Metadata; the content itself is in the content block.
#[derive(Debug, Serialize, JsonSchema)]
struct Media {
    path: String,
    mime_type: String,
    size_bytes: u64,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    let shared = Arc::clone(fs);
    Tool::new("read_media_file", move |args: Args| {
        let fs = Arc::clone(&shared);
        async move {
            let time = fs.caps.time;
            budget::blocking(time, move |budget| run(&fs, &args, budget)).await
        }
    })
    .title("Read image or sound")
    .description(format!(
        "Reads an image or sound file of at most {} MB and returns it as an image or audio block; other files come as an \
         embedded resource. The type is detected from the content, then from the name.",
        fs.caps.media_bytes >> 20
    ))
    .output_schema(output_schema::<Media>())
    .read_only()
    .idempotent()
    .closed_world()
}

fn run(fs: &Filesystem, args: &Args, _: &Budget) -> Result<CallToolResult, ToolError> {
    let opened = fs.open(&args.path)?;
    let all = window::read_all(&opened.file, fs.caps.media_bytes)
        .map_err(|error| io_failed(error, &opened.label))?;
    let Some(bytes) = all else {
        let message = format!(
            "`{}` has {} bytes, more than the {} allowed",
            opened.label,
            opened.size(),
            fs.caps.media_bytes
        );
        return Err(ToolError::new(message)
            .hint("make a smaller copy, or read parts with read_file and encoding: \"base64\""));
    };
    let mime_type = mime_type(&bytes, &opened.label);
    let data = window::base64(&bytes);
    let block: ContentBlock = match mime_type.split_once('/') {
        Some(("image", _)) => ImageContent::new(data, mime_type).into(),
        Some(("audio", _)) => AudioContent::new(data, mime_type).into(),
        _ => {
            let mut blob = BlobContents::new(uri(&opened.label), data);
            blob.mime_type = Some(mime_type.to_owned());
            EmbeddedResource::new(ResourceContents::Blob(blob)).into()
        }
    };
    let media = Media { path: opened.label, mime_type: mime_type.to_owned(), size_bytes: bytes.len() as u64 };
    let facts = Raw::encode(&media)
        .map_err(|error| ToolError::new("the result cannot be written as JSON").detail(error.to_string()))?;
    let content = vec![block, ContentBlock::text(facts.as_str())];
    Ok(CallToolResult {
        content: Some(content),
        structured_content: Some(facts),
        ..CallToolResult::default()
    })
}

/// A URI for the embedded resource; it cannot be read as a resource.
fn uri(label: &str) -> String {
    let path = label.trim_start_matches('/').bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("writing to a string cannot fail");
        }
        uri
    });
    format!("file:///{path}")
}

const BY_START: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\x01\0", "image/x-icon"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"%PDF-", "application/pdf"),
];

const BY_NAME: &[(&str, &str)] = &[
    (".svg", "image/svg+xml"),
    (".m4a", "audio/mp4"),
    (".aac", "audio/aac"),
    (".mp3", "audio/mpeg"),
    (".txt", "text/plain"),
    (".json", "application/json"),
    (".zip", "application/zip"),
];

/// Detects the type from the content first, then from the name: names are often wrong, and a wrong
/// type makes the whole request fail.
fn mime_type(bytes: &[u8], label: &str) -> &'static str {
    if let [b'R', b'I', b'F', b'F', _, _, _, _, kind @ ..] = bytes {
        match kind.get(..4) {
            Some(b"WEBP") => return "image/webp",
            Some(b"WAVE") => return "audio/wav",
            _ => {}
        }
    }
    if bytes.get(4..12).is_some_and(|brand| brand == b"ftypavif" || brand == b"ftypavis") {
        return "image/avif";
    }
    let lower = label.to_lowercase();
    let by_start = BY_START.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, mime)| *mime);
    let by_name = || BY_NAME.iter().find(|(end, _)| lower.ends_with(end)).map(|(_, mime)| *mime);
    by_start.or_else(by_name).unwrap_or("application/octet-stream")
}
