//! Formats content blocks, tool results, resources and prompts as text.

use super::{BAD, FAINT, NAME, Out, indent, json, safe, save, structured};
use std::fmt::Write as _;
use trunkline_protocol::{
    Raw,
    message::{
        CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, ResourceContents, ResourceLink,
    },
};

/// Formats results as text, and saves binary content to files if `--out` is given.
#[derive(Debug, Default)]
pub(crate) struct Renderer {
    pub(crate) text: String,
    /// Errors of saving files.
    pub(crate) troubles: Vec<String>,
    out: Option<Out>,
    saved: usize,
}

/// Binary content as it appears in a message (base64).
struct Bytes<'a> {
    what: &'a str,
    data: &'a str,
    mime: Option<&'a str>,
}

impl Renderer {
    pub(crate) fn new(out: Option<Out>) -> Self {
        Self { out, ..Self::default() }
    }

    pub(crate) fn tool_result(&mut self, result: &CallToolResult) {
        if result.failed() {
            self.line(&format!("{BAD}The tool reported an error:{BAD:#}"));
        }
        let structured = result.structured_content.as_ref();
        // Servers repeat structured content as text, for clients that do not support it.
        let repeats = |block: &ContentBlock| match (block, structured) {
            (ContentBlock::Text(text), Some(raw)) => structured::same_json(&text.text, raw),
            _ => false,
        };
        for block in result.blocks().iter().filter(|block| !repeats(block)) {
            self.block(block);
        }
        let told: String =
            result.blocks().iter().filter(|block| !repeats(block)).filter_map(text_of).collect();
        if let Some(raw) = structured.filter(|raw| !structured::is_told_by(&told, raw)) {
            self.text.push_str(&structured::render(raw));
        }
        if result.blocks().is_empty() && structured.is_none() {
            self.nothing();
        }
    }

    pub(crate) fn resource(&mut self, result: &ReadResourceResult) {
        let several = result.contents.len() > 1;
        for contents in &result.contents {
            if several {
                self.line(&format!("{NAME}{}{NAME:#}", uri(contents)));
            }
            match (contents, self.out.clone()) {
                (ResourceContents::Text(text), Some(out)) => {
                    let mime = text.mime_type.as_deref().unwrap_or("text/plain");
                    self.save(&out, text.text.as_bytes(), ("resource", mime));
                }
                (other, _) => self.contents(other),
            }
        }
        if result.contents.is_empty() {
            self.nothing();
        }
    }

    pub(crate) fn prompt(&mut self, result: &GetPromptResult) {
        if let Some(description) = &result.description {
            self.line(&format!("{FAINT}{}{FAINT:#}", safe::line(description)));
        }
        for message in &result.messages {
            self.line(&format!("{NAME}{}:{NAME:#}", safe::line(message.role.as_str())));
            let before = std::mem::take(&mut self.text);
            self.block(&message.content);
            let block = std::mem::replace(&mut self.text, before);
            indent(&mut self.text, &block, 2);
        }
    }

    pub(crate) fn block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.line(&safe::text(&text.text)),
            ContentBlock::Image(image) => {
                self.bytes(&Bytes { what: "image", data: &image.data, mime: Some(&image.mime_type) });
            }
            ContentBlock::Audio(audio) => {
                self.bytes(&Bytes { what: "audio", data: &audio.data, mime: Some(&audio.mime_type) });
            }
            ContentBlock::ResourceLink(link) => self.link(link),
            ContentBlock::Resource(embedded) => {
                self.line(&format!("{FAINT}resource{FAINT:#} {}", uri(&embedded.resource)));
                self.contents(&embedded.resource);
            }
            ContentBlock::ToolUse(call) => {
                let (name, input) = (safe::line(&call.name), safe::json(call.input.as_str()));
                self.line(&format!("{FAINT}tool call{FAINT:#} {name} {input}"));
            }
            ContentBlock::ToolResult(result) => result.content.iter().for_each(|block| self.block(block)),
            ContentBlock::Unknown(raw) => self.json(raw),
        }
    }

    fn contents(&mut self, contents: &ResourceContents) {
        match contents {
            ResourceContents::Text(text) => self.line(&safe::text(&text.text)),
            ResourceContents::Blob(blob) => {
                self.bytes(&Bytes { what: "resource", data: &blob.blob, mime: blob.mime_type.as_deref() });
            }
            ResourceContents::Unknown(raw) => self.json(raw),
        }
    }

    fn bytes(&mut self, bytes: &Bytes<'_>) {
        let what = bytes.what;
        let mime = bytes.mime.unwrap_or("application/octet-stream");
        let kind = safe::line(bytes.mime.unwrap_or("unknown type"));
        let Some(data) = save::decode(bytes.data) else {
            return self.line(&format!("[{what}: {kind}, not valid base64]"));
        };
        let size = save::size(data.len());
        match self.out.clone() {
            Some(out) => {
                write!(self.text, "[{what}: {kind}, {size}] ").expect("a String takes any text");
                self.save(&out, &data, (what, mime));
            }
            None => self.line(&format!("[{what}: {kind}, {size}; save it with --out]")),
        }
    }

    fn save(&mut self, out: &Out, data: &[u8], (stem, mime): (&str, &str)) {
        match out.save(data, stem, mime, self.saved) {
            Ok(path) => {
                self.saved += 1;
                self.line(&format!("saved as {}", safe::line(&path.to_string_lossy())));
            }
            Err(error) => {
                self.line("not saved");
                self.troubles.push(format!("the {stem} cannot be saved: {error}"));
            }
        }
    }

    fn link(&mut self, link: &ResourceLink) {
        let name = safe::line(link.title.as_deref().unwrap_or(&link.name));
        let mime =
            link.mime_type.as_deref().map(|mime| format!(" ({})", safe::line(mime))).unwrap_or_default();
        self.line(&format!("{FAINT}link{FAINT:#} {NAME}{}{NAME:#} {name}{mime}", safe::line(&link.uri)));
        if let Some(description) = &link.description {
            indent(&mut self.text, &safe::text(description), 2);
        }
    }

    fn json(&mut self, raw: &Raw) {
        self.line(&safe::json(&json::pretty(raw)));
    }

    fn nothing(&mut self) {
        self.line(&format!("{FAINT}(nothing){FAINT:#}"));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

fn uri(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::Text(text) => safe::line(&text.uri),
        ResourceContents::Blob(blob) => safe::line(&blob.uri),
        ResourceContents::Unknown(_) => "(of an unknown kind)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        let result: CallToolResult = serde_json::from_str(text).unwrap();
        let mut renderer = Renderer::default();
        renderer.tool_result(&result);
        anstream::adapter::strip_str(&renderer.text).to_string()
    }

    #[test]
    fn every_kind_of_block_is_shown() {
        let text = r#"{"content":[
            {"type":"text","text":"hi\u001b]0;x\u0007"},
            {"type":"image","data":"aGVsbG8=","mimeType":"image/png"},
            {"type":"audio","data":"%","mimeType":"audio/wav"},
            {"type":"resource_link","uri":"file:///a","name":"a","description":"an a","mimeType":"text/plain"},
            {"type":"resource","resource":{"uri":"demo://1","text":"inside"}},
            {"type":"hologram","beams":3}]}"#;
        insta::assert_snapshot!(rendered(text), @r#"
        hi␛]0;x␇
        [image: image/png, 5 B; save it with --out]
        [audio: audio/wav, not valid base64]
        link file:///a a (text/plain)
          an a
        resource demo://1
        inside
        {
          "type": "hologram",
          "beams": 3
        }
        "#);
    }

    #[test]
    fn structured_content_is_not_shown_twice() {
        let text = r#"{"content":[{"type":"text","text":"{ \"a\": 1 }"}],"structuredContent":{"a":1}}"#;
        assert_eq!(rendered(text), "a: 1\n");
        let other = r#"{"content":[{"type":"text","text":"one"}],"structuredContent":{"a":1}}"#;
        assert_eq!(rendered(other), "one\na: 1\n");
        let told = r#"{"content":[{"type":"text","text":"a.rs  12 lines"}],"structuredContent":{"files":[{"name":"a.rs","lines":12}]}}"#;
        assert_eq!(rendered(told), "a.rs  12 lines\n");
    }

    #[test]
    fn errors_and_emptiness_are_said() {
        assert_eq!(rendered(r#"{"content":[]}"#), "(nothing)\n");
        let failed = r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#;
        assert_eq!(rendered(failed), "The tool reported an error:\nno\n");
    }
}
