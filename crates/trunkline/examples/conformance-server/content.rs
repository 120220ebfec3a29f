//! Small pieces of content that several fixtures share.

use base64::{Engine, prelude::BASE64_STANDARD};
use trunkline_protocol::message::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents, TextContents,
};

/// One red pixel.
pub(crate) const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\
    \x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
pub(crate) const PNG_TYPE: &str = "image/png";
/// Four samples of silence.
const WAV: &[u8] =
    b"RIFF(\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\x04\0\0\0\x80\x80\x80\x80";

pub(crate) fn image() -> ContentBlock {
    ImageContent::new(BASE64_STANDARD.encode(PNG), PNG_TYPE).into()
}

pub(crate) fn audio() -> ContentBlock {
    AudioContent::new(BASE64_STANDARD.encode(WAV), "audio/wav").into()
}

pub(crate) fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    let mut contents = TextContents::new(uri, text);
    contents.mime_type = Some(mime_type.to_owned());
    EmbeddedResource::new(ResourceContents::Text(contents)).into()
}
