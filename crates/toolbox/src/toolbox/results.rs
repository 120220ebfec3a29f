//! Results: stores texts that are too long for one answer, so that the caller can read the rest.

use parking_lot::{Mutex, MutexGuard};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{
    Caller, Object, Raw,
    message::{CallToolResult, ContentBlock, TextContents},
};

/// URI prefix of a stored text.
pub(super) const SCHEME: &str = "trunkline://result/";
/// Key in a result's `_meta` that says how much was cut off and where to read it.
const TRUNCATED_META: &str = "trunkline/truncated";
/// Key in the `_meta` of a read part that holds the URI of the next part.
const MORE_META: &str = "trunkline/more";
/// Time to live of a stored text; below: the maximum size of all stored texts.
const KEPT_FOR: Duration = Duration::from_mins(15);
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;
/// Structured content cannot be cut, so its limit is this many times the limit of text.
const STRUCTURED_FACTOR: usize = 4;

/// The stored texts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Results {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    id: String,
    owner: String,
    text: Arc<str>,
    step: usize,
    since: Instant,
}

/// A truncated text: bytes shown, bytes in all, and the URI of the rest if it is stored.
struct Cut {
    shown: usize,
    total: usize,
    uri: Option<String>,
}

impl Results {
    /// Truncates the texts of a result to the budget, and stores the whole text for its caller.
    pub(super) fn fit(&self, result: &mut CallToolResult, caller: &Caller, budget: usize) {
        let structured = result.structured_content.as_ref().map_or(0, |s| s.as_bytes().len());
        if structured > budget.saturating_mul(STRUCTURED_FACTOR) {
            self.refuse(result, caller, budget);
            return;
        }
        let total: usize = texts(result).map(str::len).sum();
        if total <= budget {
            return;
        }
        let whole = texts(result).collect::<String>();
        let cut = self.keep(whole, caller, budget);
        let mut left = budget;
        let blocks = result.content.take().unwrap_or_default();
        let mut kept = Vec::with_capacity(blocks.len());
        for mut block in blocks {
            if let ContentBlock::Text(text) = &mut block {
                if left == 0 {
                    continue;
                }
                let shown = boundary(&text.text, left);
                left = if shown < text.text.len() { 0 } else { left - shown };
                text.text.truncate(shown);
            }
            kept.push(block);
        }
        kept.push(ContentBlock::text(cut.note()));
        result.content = Some(kept);
        set_meta(result, cut.to_raw());
    }

    /// Replaces structured content that is too long by an error: a truncated part of it would not
    /// match the output schema.
    fn refuse(&self, result: &mut CallToolResult, caller: &Caller, budget: usize) {
        let whole = result.structured_content.take().map(|s| s.to_string()).unwrap_or_default();
        let cut = self.keep(whole, caller, budget);
        let message = format!(
            "the result is too long to be sent at once ({} bytes); ask for less\n{}",
            cut.total,
            cut.note()
        );
        result.content = Some(vec![ContentBlock::text(message)]);
        result.is_error = Some(true);
        set_meta(result, cut.to_raw());
    }

    fn keep(&self, whole: String, caller: &Caller, shown: usize) -> Cut {
        let total = whole.len();
        let shown = boundary(&whole, shown);
        if total > MAX_KEPT_BYTES / 2 {
            return Cut { shown, total, uri: None };
        }
        let id = unguessable();
        let uri = format!("{SCHEME}{id}?offset={shown}");
        let kept = Kept {
            id,
            owner: caller.id.clone(),
            text: whole.into(),
            step: shown.max(1),
            since: Instant::now(),
        };
        let mut all = self.fresh();
        all.push_back(kept);
        while all.iter().map(|k| k.text.len()).sum::<usize>() > MAX_KEPT_BYTES {
            all.pop_front();
        }
        Cut { shown, total, uri: Some(uri) }
    }

    /// A part of a stored text; `None` if this caller has no such text.
    pub(super) fn read(&self, uri: &str, caller: &Caller) -> Option<TextContents> {
        let (id, query) =
            uri.strip_prefix(SCHEME)?.split_once('?').unwrap_or((uri.strip_prefix(SCHEME)?, ""));
        let offset: usize = match query {
            "" => 0,
            query => query.strip_prefix("offset=")?.parse().ok()?,
        };
        let (text, step) = {
            let all = self.fresh();
            let kept = all.iter().find(|k| k.id == id && k.owner == caller.id)?;
            (Arc::clone(&kept.text), kept.step)
        };
        if offset > text.len() {
            return None;
        }
        let start = boundary(&text, offset);
        let end = boundary(&text, start.saturating_add(step));
        let end = if end == start { text.len().min(start + 4) } else { end };
        let end = boundary(&text, end);
        let mut contents = TextContents::new(uri, &text[start..end]);
        contents.mime_type = Some("text/plain".to_owned());
        let next = (end < text.len()).then(|| format!("{SCHEME}{id}?offset={end}"));
        let mut more = Object::new();
        more.set(MORE_META, serde_json::json!({"total": text.len(), "end": end, "next": next}).into());
        contents.meta = Some(more.to_raw());
        Some(contents)
    }

    fn fresh(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        let mut all = self.kept.lock();
        while all.front().is_some_and(|k| k.since.elapsed() > KEPT_FOR) {
            all.pop_front();
        }
        all
    }
}

/// An id of 122 bits from a cryptographic random generator.
pub(super) fn unguessable() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl Cut {
    fn note(&self) -> String {
        let Self { shown, total, uri } = self;
        match uri {
            Some(uri) => {
                format!("[truncated: {shown} of {total} bytes shown; read the rest as the resource {uri}]")
            }
            None => format!("[truncated: {shown} of {total} bytes shown; ask for less to see the rest]"),
        }
    }

    fn to_raw(&self) -> Raw {
        serde_json::json!({"truncated": true, "shown": self.shown, "total": self.total, "uri": self.uri})
            .into()
    }
}

fn set_meta(result: &mut CallToolResult, value: Raw) {
    let mut meta = result.meta.as_ref().and_then(Raw::object).unwrap_or_default();
    meta.set(TRUNCATED_META, value);
    result.meta = Some(meta.to_raw());
}

fn texts(result: &CallToolResult) -> impl Iterator<Item = &str> {
    result.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
