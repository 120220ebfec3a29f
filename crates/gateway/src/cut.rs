//! Cut results: long texts of tool results are cut, and the rest is read as a resource.
//!
//! The whole text is kept in the store for its caller, for a while. Structured content cannot be
//! cut, because a part of it would not fit the tool's output schema: if it is much too long, the
//! result becomes an error that says where to read it.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};
use trunkline_protocol::{
    Caller, Object, Raw,
    message::{CallToolResult, ContentBlock, TextContents},
};
use trunkline_store::{Condition, Store};

/// URI prefix of a kept text. No server has it: URIs with `trunkline:` are rewritten.
pub(crate) const SCHEME: &str = "trunkline://cut/";
/// Key in a result's `_meta` that says how much was cut off and where to read it.
const TRUNCATED_META: &str = "trunkline/truncated";
/// Key in the `_meta` of a read part that holds the URI of the next part.
const MORE_META: &str = "trunkline/more";
/// Time for which a text is kept.
const KEPT_FOR: Duration = Duration::from_mins(15);
/// Most bytes of the kept texts of one caller; the oldest are removed.
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;
/// Longest kept text; of a longer one only the beginning can be read.
const MAX_TEXT: usize = 8 * 1024 * 1024;
/// Structured content may have this many times the bytes of text.
const STRUCTURED_FACTOR: usize = 4;
const KEYS: &str = "cut-result/";

/// The texts that were cut. Clones share everything.
#[derive(Clone)]
pub struct CutResults {
    store: Arc<dyn Store>,
    /// The texts that this process keeps, oldest first.
    kept: Arc<Mutex<VecDeque<Kept>>>,
}

struct Kept {
    id: String,
    owner: String,
    bytes: usize,
    since: Instant,
}

/// A text in the store.
#[derive(Serialize, Deserialize)]
struct Stored {
    owner: String,
    /// Bytes of one part.
    step: usize,
    text: String,
}

impl CutResults {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, kept: Arc::default() }
    }

    /// The result with at most `most` bytes of text.
    pub(crate) async fn fit(&self, result: Raw, caller: &Caller, most: usize) -> Raw {
        if result.as_bytes().len() <= most {
            return result;
        }
        // What is no result of a tool, such as a question, is not cut.
        let Ok(mut decoded) = result.decode::<CallToolResult>() else { return result };
        let structured = decoded.structured_content.as_ref().map_or(0, |it| it.as_bytes().len());
        if structured > most.saturating_mul(STRUCTURED_FACTOR) {
            self.refuse(&mut decoded, caller, most).await;
            return decoded.to_raw();
        }
        let whole: String = texts(&decoded).collect();
        if whole.len() <= most {
            return result;
        }
        let shown = whole.floor_char_boundary(most);
        let total = whole.len();
        let uri = self.keep(whole, caller, shown).await;
        shorten(&mut decoded, most);
        let note = note(shown, total, uri.as_deref());
        decoded.content.get_or_insert_default().push(ContentBlock::text(note));
        set_meta(&mut decoded, (shown, total, uri));
        decoded.to_raw()
    }

    async fn refuse(&self, result: &mut CallToolResult, caller: &Caller, most: usize) {
        let whole = result.structured_content.take().map(|it| it.to_string()).unwrap_or_default();
        let total = whole.len();
        let uri = self.keep(whole, caller, most).await.map(|uri| uri.replace(&format!("?offset={most}"), ""));
        let text = format!(
            "the structured result is too long to be sent at once ({total} bytes); ask for less\n{}",
            note(0, total, uri.as_deref())
        );
        result.content = Some(vec![ContentBlock::text(text)]);
        result.is_error = Some(true);
        set_meta(result, (0, total, uri));
    }

    /// Keeps a text for its caller; returns the URI of the part after `shown`, unless it cannot be
    /// kept.
    async fn keep(&self, text: String, caller: &Caller, shown: usize) -> Option<String> {
        let bytes = text.len();
        if bytes > MAX_TEXT {
            return None;
        }
        let id = uuid::Uuid::new_v4().simple().to_string();
        let stored = Stored { owner: caller.id.clone(), step: shown.max(1), text };
        let value = serde_json::to_vec(&stored).ok()?;
        for old in self.surplus(&id, &caller.id, bytes) {
            drop(self.store.remove(&format!("{KEYS}{old}"), Condition::Always).await);
        }
        let key = format!("{KEYS}{id}");
        let written = self.store.put(&key, value.into(), Condition::Absent, Some(KEPT_FOR)).await;
        if let Err(error) = written {
            tracing::warn!(%error, "a long result cannot be kept");
            return None;
        }
        Some(format!("{SCHEME}{id}?offset={shown}"))
    }

    /// Notes a text, and returns those of the same caller that are too much with it.
    fn surplus(&self, id: &str, owner: &str, bytes: usize) -> Vec<String> {
        let mut kept = self.kept.lock();
        while kept.front().is_some_and(|old| old.since.elapsed() > KEPT_FOR) {
            kept.pop_front();
        }
        kept.push_back(Kept { id: id.to_owned(), owner: owner.to_owned(), bytes, since: Instant::now() });
        let mut removed = Vec::new();
        let sum = |kept: &VecDeque<Kept>| {
            kept.iter().filter(|it| it.owner == owner).map(|it| it.bytes).sum::<usize>()
        };
        while sum(&kept) > MAX_KEPT_BYTES
            && let Some(at) = kept.iter().position(|it| it.owner == owner)
            && let Some(old) = kept.remove(at)
        {
            removed.push(old.id);
        }
        removed
    }

    /// A part of a kept text, as the result of `resources/read`; `None` if this caller has no such
    /// text.
    pub(crate) async fn read(&self, uri: &str, caller: &Caller) -> Option<Raw> {
        let rest = uri.strip_prefix(SCHEME)?;
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let offset: usize = match query {
            "" => 0,
            query => query.strip_prefix("offset=")?.parse().ok()?,
        };
        if id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let value = self.store.get(&format!("{KEYS}{id}")).await.ok()??;
        let stored: Stored = serde_json::from_slice(&value.bytes).ok()?;
        let text = stored.text;
        if stored.owner != caller.id || offset > text.len() {
            return None;
        }
        let start = text.floor_char_boundary(offset);
        let end = text.ceil_char_boundary(start.saturating_add(stored.step).min(text.len()));
        let mut contents = TextContents::new(uri, &text[start..end]);
        contents.mime_type = Some("text/plain".to_owned());
        let next = (end < text.len()).then(|| format!("{SCHEME}{id}?offset={end}"));
        let mut more = Object::new();
        more.set(MORE_META, json!({"total": text.len(), "end": end, "next": next}).into());
        contents.meta = Some(more.to_raw());
        let mut result = Object::new();
        result.set("contents", Raw::encode(&[contents.to_raw()]).ok()?);
        Some(result.to_raw())
    }
}

/// Cuts the texts of a result, all together, to this many bytes.
fn shorten(result: &mut CallToolResult, most: usize) {
    let mut left = most;
    let blocks = result.content.take().unwrap_or_default();
    let mut kept = Vec::with_capacity(blocks.len());
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

fn note(shown: usize, total: usize, uri: Option<&str>) -> String {
    let rest = match uri {
        Some(uri) => format!("read the rest as the resource {uri}"),
        None => "ask for less to see the rest".to_owned(),
    };
    format!("[truncated: {shown} of {total} bytes shown; {rest}]")
}

fn set_meta(result: &mut CallToolResult, (shown, total, uri): (usize, usize, Option<String>)) {
    let mut meta = result.meta.as_ref().and_then(Raw::object).unwrap_or_default();
    let cut = json!({"truncated": true, "shown": shown, "total": total, "uri": uri});
    meta.set(TRUNCATED_META, cut.into());
    result.meta = Some(meta.to_raw());
}

fn texts(result: &CallToolResult) -> impl Iterator<Item = &str> {
    result.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}

impl fmt::Debug for CutResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CutResults").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_store::Embedded;

    fn results() -> CutResults {
        CutResults::new(Arc::new(Embedded::in_memory().unwrap()))
    }

    fn result(text: &str) -> Raw {
        json!({"content": [{"type": "text", "text": text}, {"type": "text", "text": "more"}]}).into()
    }

    #[tokio::test]
    async fn the_rest_is_read_part_by_part_by_its_caller_only() {
        let (results, caller) = (results(), Caller::named("ada"));
        let whole = "äbcdefghij".repeat(10);
        let cut = results.fit(result(&whole), &caller, 50).await;
        let value: serde_json::Value = cut.decode().unwrap();
        let shown = value["content"][0]["text"].as_str().unwrap();
        assert!(whole.starts_with(shown) && shown.len() <= 50);
        assert!(value["content"][1]["text"].as_str().unwrap().starts_with("[truncated: 50 of 114 bytes"));
        let mut uri = value["_meta"][TRUNCATED_META]["uri"].as_str().unwrap().to_owned();
        assert!(results.read(&uri, &Caller::named("bob")).await.is_none());
        let mut all = shown.to_owned();
        loop {
            let part: serde_json::Value = results.read(&uri, &caller).await.unwrap().decode().unwrap();
            let contents = &part["contents"][0];
            all.push_str(contents["text"].as_str().unwrap());
            match contents["_meta"][MORE_META]["next"].as_str() {
                Some(next) => uri = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(all, format!("{whole}more"));
        for bad in ["trunkline://cut/", "trunkline://cut/../x", "trunkline://cut/a?offset=-1"] {
            assert!(results.read(bad, &caller).await.is_none(), "{bad}");
        }
    }

    #[tokio::test]
    async fn short_results_and_moderate_structured_content_stay_as_they_are() {
        let (results, caller) = (results(), Caller::named("ada"));
        let short = result("short");
        assert_eq!(results.fit(short.clone(), &caller, 1000).await.as_str(), short.as_str());
        let structured: Raw = json!({"content": [], "structuredContent": {"a": "x".repeat(100)}}).into();
        assert_eq!(results.fit(structured.clone(), &caller, 50).await.as_str(), structured.as_str());
        let cut = results.fit(structured, &caller, 10).await;
        assert_eq!(cut.member_as("isError"), Some(true));
        assert!(cut.member("structuredContent").is_none());
    }

    #[test]
    fn one_caller_cannot_keep_more_than_its_share() {
        let results = results();
        for number in 0..4 {
            assert!(results.surplus(&number.to_string(), "ada", MAX_TEXT).is_empty());
        }
        assert!(results.surplus("other", "bob", MAX_TEXT).is_empty());
        assert_eq!(results.surplus("next", "ada", 1), ["0"]);
    }
}
