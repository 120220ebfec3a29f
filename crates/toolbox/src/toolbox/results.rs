//! Results: texts too long for one answer, kept so that their callers can read on.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;
use trunkline_protocol::{
    Caller, Object, Raw,
    message::{CallToolResult, ContentBlock, TextContents},
};

/// The beginning of the URI of a kept text.
pub(super) const SCHEME: &str = "trunkline://result/";
/// Under this key of a result's `_meta` stands how much was cut off, and where to read it.
const TRUNCATED_META: &str = "trunkline/truncated";
/// Under this key of a read text's `_meta` stands where the text goes on.
const MORE_META: &str = "trunkline/more";
/// How long a text is kept, and how much of all texts together.
const KEPT_FOR: Duration = Duration::from_mins(15);
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;
/// Structured content cannot be cut, so it may be this many times as long as text.
const STRUCTURED_FACTOR: usize = 4;

/// The texts that are kept.
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

/// How much of a text an answer holds.
struct Cut {
    shown: usize,
    total: usize,
    uri: Option<String>,
}

impl Results {
    /// Cuts the texts of a result to the budget, and keeps the whole for its caller.
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

    /// Structured content that is far too long: half of it would be no longer what the schema promises.
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

    /// A part of a kept text; `None` when there is none for this caller.
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
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        while all.front().is_some_and(|k| k.since.elapsed() > KEPT_FOR) {
            all.pop_front();
        }
        all
    }
}

/// An id of 122 random bits, from a generator that cannot be predicted.
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

/// The last place at or before `at` where the text can be cut.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
