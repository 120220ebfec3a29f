//! Truncated: a tool result that is sent only in part, and the parts in which the rest is read.

use super::{CallToolResult, ContentBlock, TextContents};
use crate::{Object, Raw};
use serde_json::json;

/// Key in a result's `_meta` that says how much was cut off and where to read it.
const TRUNCATED_META: &str = "trunkline/truncated";
/// Key in the `_meta` of a read part that holds the URI of the next part.
const MORE_META: &str = "trunkline/more";
/// Structured content cannot be cut, so its limit is this many times the limit of text.
const STRUCTURED_FACTOR: usize = 4;

/// The text of a result that exceeds its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TooLong {
    /// The text of all blocks, and the number of bytes that are still shown.
    Text { whole: String, shown: usize },
    /// Nothing of it is shown: a part would not match the tool's output schema.
    Structured { whole: String },
}

/// The part of a kept text that a `resources/read` asks for.
#[derive(Debug, Clone, Copy)]
pub struct PartOf<'a> {
    pub text: &'a str,
    /// URI of the text, without an offset.
    pub uri: &'a str,
    pub offset: usize,
    /// Bytes of one part.
    pub step: usize,
}

impl TooLong {
    /// `None` for a result with at most `most` bytes of text.
    pub fn of(result: &CallToolResult, most: usize) -> Option<Self> {
        let structured = result.structured_content.as_ref().map(Raw::as_str);
        if let Some(whole) = structured.filter(|text| text.len() > most.saturating_mul(STRUCTURED_FACTOR)) {
            return Some(Self::Structured { whole: whole.to_owned() });
        }
        if texts(result).map(str::len).sum::<usize>() <= most {
            return None;
        }
        let whole: String = texts(result).collect();
        let shown = whole.floor_char_boundary(most);
        Some(Self::Text { whole, shown })
    }

    pub fn whole(&self) -> &str {
        match self {
            Self::Text { whole, .. } | Self::Structured { whole } => whole,
        }
    }

    pub fn shown(&self) -> usize {
        match self {
            Self::Text { shown, .. } => *shown,
            Self::Structured { .. } => 0,
        }
    }

    /// Cuts the result. `rest` is the URI of the rest, if it is kept.
    pub fn cut(&self, result: &mut CallToolResult, rest: Option<&str>) {
        let (shown, total) = (self.shown(), self.whole().len());
        let where_to = match rest {
            Some(uri) => format!("read the rest as the resource {uri}"),
            None => "ask for less to see the rest".to_owned(),
        };
        let note = format!("[truncated: {shown} of {total} bytes shown; {where_to}]");
        match self {
            Self::Text { .. } => {
                shorten(result, shown);
                result.content.get_or_insert_default().push(ContentBlock::text(note));
            }
            Self::Structured { .. } => {
                let text = format!(
                    "the result is too long to be sent at once ({total} bytes); ask for less\n{note}"
                );
                result.structured_content = None;
                result.content = Some(vec![ContentBlock::text(text)]);
                result.is_error = Some(true);
            }
        }
        let mut meta = result.meta.as_ref().and_then(Raw::object).unwrap_or_default();
        let cut = json!({"truncated": true, "shown": shown, "total": total, "uri": rest});
        meta.set(TRUNCATED_META, cut.into());
        result.meta = Some(meta.to_raw());
    }
}

impl PartOf<'_> {
    /// `None` if the offset lies behind the text.
    pub fn read(self) -> Option<TextContents> {
        let Self { text, uri, offset, step } = self;
        if offset > text.len() {
            return None;
        }
        let start = text.floor_char_boundary(offset);
        let end = text.ceil_char_boundary(start.saturating_add(step.max(1)).min(text.len()));
        let mut contents = TextContents::new(offset_uri(uri, offset), &text[start..end]);
        contents.mime_type = Some("text/plain".to_owned());
        let next = (end < text.len()).then(|| offset_uri(uri, end));
        let mut more = Object::new();
        more.set(MORE_META, json!({"total": text.len(), "end": end, "next": next}).into());
        contents.meta = Some(more.to_raw());
        Some(contents)
    }
}

/// The URI of a text from an offset on.
pub fn offset_uri(uri: &str, offset: usize) -> String {
    match offset {
        0 => uri.to_owned(),
        offset => format!("{uri}?offset={offset}"),
    }
}

/// The URI of the text and the offset in it; `None` if it has another query.
pub fn read_offset(uri: &str) -> Option<(&str, usize)> {
    match uri.split_once('?') {
        None => Some((uri, 0)),
        Some((uri, query)) => Some((uri, query.strip_prefix("offset=")?.parse().ok()?)),
    }
}

/// Cuts the texts of a result, all together, to this many bytes.
fn shorten(result: &mut CallToolResult, most: usize) {
    let mut left = most;
    let blocks = result.content.take().unwrap_or_default();
    let mut kept = Vec::with_capacity(blocks.len() + 1);
    for mut block in blocks {
        if let ContentBlock::Text(text) = &mut block {
            if left == 0 {
                continue;
            }
            let shown = text.text.floor_char_boundary(left);
            left = if shown < text.text.len() { 0 } else { left - shown };
            text.text.truncate(shown);
        }
        kept.push(block);
    }
    result.content = Some(kept);
}

fn texts(result: &CallToolResult) -> impl Iterator<Item = &str> {
    result.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}
