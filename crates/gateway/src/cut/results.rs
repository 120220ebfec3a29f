//! The texts that were cut. A whole text is kept in the store for its caller, for a while.
//! Structured content cannot be cut, because a part of it would not fit the tool's output schema:
//! if it is much too long, the result becomes an error that says where to read it.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};
use trunkline_protocol::{
    Caller, Raw,
    message::{
        CacheScope, CallToolResult, ReadResourceResult, ResourceContents,
        truncated::{PartOf, TooLong, offset_uri, read_offset},
    },
};
use trunkline_store::{Condition, Store};

/// URI prefix of a kept text. No server has it: URIs with `trunkline:` are rewritten.
pub(super) const SCHEME: &str = "trunkline://cut/";
/// Time for which a text is kept.
const KEPT_FOR: Duration = Duration::from_mins(15);
/// Most bytes of the kept texts of one caller; the oldest are removed.
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;
/// Longest text that is kept; a longer one is cut without a URI for the rest.
const MAX_TEXT: usize = 8 * 1024 * 1024;
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
    pub(super) async fn fit(&self, result: Raw, caller: &Caller, most: usize) -> Raw {
        if result.as_bytes().len() <= most {
            return result;
        }
        // Only results of tools are cut, no questions.
        let Ok(mut decoded) = result.decode::<CallToolResult>() else { return result };
        let Some(long) = TooLong::of(&decoded, most) else { return result };
        let rest = self.keep(&long, caller, most).await;
        long.cut(&mut decoded, rest.as_deref());
        decoded.to_raw()
    }

    /// Keeps a text for its caller; returns the URI of the part that is not shown, unless the text
    /// cannot be kept.
    async fn keep(&self, long: &TooLong, caller: &Caller, step: usize) -> Option<String> {
        let text = long.whole();
        if text.len() > MAX_TEXT {
            return None;
        }
        let id = uuid::Uuid::new_v4().simple().to_string();
        let bytes = text.len();
        let stored = Stored { owner: caller.id.clone(), step, text: text.to_owned() };
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
        Some(offset_uri(&format!("{SCHEME}{id}"), long.shown()))
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
    pub(super) async fn read(&self, uri: &str, caller: &Caller) -> Option<Raw> {
        let (uri, offset) = read_offset(uri)?;
        let id = uri.strip_prefix(SCHEME)?;
        if id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let value = self.store.get(&format!("{KEYS}{id}")).await.ok()??;
        let stored: Stored = serde_json::from_slice(&value.bytes).ok()?;
        if stored.owner != caller.id {
            return None;
        }
        let part = PartOf { text: &stored.text, uri, offset, step: stored.step }.read()?;
        let mut result = ReadResourceResult::new(vec![ResourceContents::Text(part)]);
        result.cache_scope = Some(CacheScope::Private);
        Some(result.to_raw())
    }
}

impl fmt::Debug for CutResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CutResults").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
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
        let mut uri = value["_meta"]["trunkline/truncated"]["uri"].as_str().unwrap().to_owned();
        assert!(results.read(&uri, &Caller::named("bob")).await.is_none());
        let mut all = shown.to_owned();
        loop {
            let part: serde_json::Value = results.read(&uri, &caller).await.unwrap().decode().unwrap();
            let contents = &part["contents"][0];
            all.push_str(contents["text"].as_str().unwrap());
            match contents["_meta"]["trunkline/more"]["next"].as_str() {
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
