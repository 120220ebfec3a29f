//! Converted documents under handles, in the store.
//!
//! A handle belongs to the caller who converted the document: its key contains the caller, so a
//! handle of somebody else is unknown. Documents are compressed and cut into values of the store.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use trunkline_protocol::{Caller, FaultKind};
use trunkline_store::{Condition, Store, StoreError};

use super::failure::DocumentFailure;
use super::options::KeepingLimits;
use super::summary::Summary;

/// Size of one value of the store.
const VALUE: usize = 4 << 20;
/// Entries that are read at a time.
const PAGE: usize = 256;
/// Beginning of every handle.
const PREFIX: &str = "doc_";

/// Converted documents of all callers.
#[derive(Debug, Clone)]
pub struct Handles {
    store: Arc<dyn Store>,
    limits: KeepingLimits,
    /// Largest document, not compressed.
    largest: usize,
}

/// Metadata of a kept document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) summary: Summary,
    /// Compressed size.
    bytes: u64,
    parts: usize,
    /// Seconds since 1970.
    created: u64,
}

impl Handles {
    pub fn new(store: Arc<dyn Store>, limits: KeepingLimits, largest: usize) -> Self {
        Self { store, limits, largest }
    }

    /// Keeps a document and returns its handle.
    pub(super) async fn keep(
        &self,
        caller: &Caller,
        summary: &Summary,
        json: Vec<u8>,
    ) -> Result<String, DocumentFailure> {
        let compressed = tokio::task::spawn_blocking(move || compress(&json))
            .await
            .map_err(|error| lost(&error.to_string()))?
            .map_err(|error| lost(&error.to_string()))?;
        let size = compressed.len() as u64;
        self.make_room(caller, size).await?;
        let handle = format!("{PREFIX}{}", uuid::Uuid::new_v4().simple());
        let lifetime = Some(self.limits.lifetime);
        let whole = Bytes::from(compressed);
        let mut parts = 0;
        while parts * VALUE < whole.len() {
            let part = whole.slice(parts * VALUE..whole.len().min((parts + 1) * VALUE));
            let key = data_key(caller, &handle, parts);
            self.store
                .put(&key, part, Condition::Always, lifetime)
                .await
                .map_err(|error| store_failed(&error))?;
            parts += 1;
        }
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let kept = Kept { summary: summary.clone(), bytes: size, parts, created };
        let kept = serde_json::to_vec(&kept).map_err(|error| lost(&error.to_string()))?;
        let key = info_key(caller, &handle);
        self.store
            .put(&key, kept.into(), Condition::Always, lifetime)
            .await
            .map_err(|error| store_failed(&error))?;
        Ok(handle)
    }

    /// The facts about a document of this caller.
    pub(super) async fn info(&self, caller: &Caller, handle: &str) -> Result<Kept, DocumentFailure> {
        if !is_handle(handle) {
            return Err(unknown());
        }
        let value = self.store.get(&info_key(caller, handle)).await.map_err(|error| store_failed(&error))?;
        serde_json::from_slice(&value.ok_or_else(unknown)?.bytes).map_err(|error| lost(&error.to_string()))
    }

    /// The JSON of a document of this caller.
    pub(super) async fn load(&self, caller: &Caller, handle: &str) -> Result<Vec<u8>, DocumentFailure> {
        let kept = self.info(caller, handle).await?;
        let mut compressed = Vec::new();
        for part in 0..kept.parts {
            let value = self
                .store
                .get(&data_key(caller, handle, part))
                .await
                .map_err(|error| store_failed(&error))?;
            compressed.extend_from_slice(&value.ok_or_else(unknown)?.bytes);
        }
        let largest = self.largest as u64;
        let read = move || {
            let mut json = Vec::new();
            GzDecoder::new(&*compressed).take(largest).read_to_end(&mut json).map(|_| json)
        };
        let json = tokio::task::spawn_blocking(read).await.map_err(|error| lost(&error.to_string()))?;
        json.map_err(|error| lost(&error.to_string()))
    }

    /// Evicts the oldest documents of this caller until one of `size` fits.
    async fn make_room(&self, caller: &Caller, size: u64) -> Result<(), DocumentFailure> {
        let (per_caller, total) = (self.limits.per_caller, self.limits.total);
        if size > per_caller {
            let message =
                format!("the document is larger than the {per_caller} bytes that a caller may keep");
            return Err(DocumentFailure::new(FaultKind::FileTooLarge, message)
                .hint("raise `documents.keptBytesPerCaller`, or split the document"));
        }
        let mut own = self.all(&info_key(caller, "")).await?;
        own.sort_by_key(|(_, kept)| kept.created);
        let mut used: u64 = own.iter().map(|(_, kept)| kept.bytes).sum();
        let mut oldest = own.into_iter();
        while used + size > per_caller {
            let Some((key, kept)) = oldest.next() else { break };
            self.evict(caller, &key, &kept).await?;
            used -= kept.bytes;
        }
        let all: u64 = self.all(INFO).await?.iter().map(|(_, kept)| kept.bytes).sum();
        if all + size > total {
            let message = "too many converted documents are kept at the moment";
            return Err(DocumentFailure::new(FaultKind::ConversionFailed, message)
                .hint("try again later, or raise `documents.keptBytes`"));
        }
        Ok(())
    }

    async fn all(&self, prefix: &str) -> Result<Vec<(String, Kept)>, DocumentFailure> {
        let mut all: Vec<(String, Kept)> = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.store.list(prefix, &after, PAGE).await.map_err(|error| store_failed(&error))?;
            let Some((last, _)) = page.last() else { return Ok(all) };
            after.clone_from(last);
            let read = |(key, value): (String, trunkline_store::Value)| {
                Some((key, serde_json::from_slice(&value.bytes).ok()?))
            };
            all.extend(page.into_iter().filter_map(read));
        }
    }

    async fn evict(&self, caller: &Caller, key: &str, kept: &Kept) -> Result<(), DocumentFailure> {
        let handle = key.rsplit('/').next().unwrap_or_default();
        self.store.remove(key, Condition::Always).await.map_err(|error| store_failed(&error))?;
        for part in 0..kept.parts {
            let key = data_key(caller, handle, part);
            self.store.remove(&key, Condition::Always).await.map_err(|error| store_failed(&error))?;
        }
        Ok(())
    }
}

/// Beginning of the keys of facts.
const INFO: &str = "document/";

fn info_key(caller: &Caller, handle: &str) -> String {
    format!("{INFO}{}/{handle}", owner(caller))
}

fn data_key(caller: &Caller, handle: &str, part: usize) -> String {
    format!("document-data/{}/{handle}/{part}", owner(caller))
}

/// The caller in a key: a hash, because an id can be long and contain any character.
fn owner(caller: &Caller) -> String {
    let hash = Sha256::digest(caller.id.as_bytes());
    hash.iter().take(16).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn is_handle(text: &str) -> bool {
    let Some(id) = text.strip_prefix(PREFIX) else { return false };
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn compress(json: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(json)?;
    encoder.finish()
}

fn unknown() -> DocumentFailure {
    DocumentFailure::new(FaultKind::ResourceNotFound, "there is no such document, or it has expired")
        .hint("convert the file again to get a new handle")
}

fn lost(detail: &str) -> DocumentFailure {
    DocumentFailure::new(FaultKind::ConversionFailed, "the converted document cannot be kept").detail(detail)
}

fn store_failed(error: &StoreError) -> DocumentFailure {
    lost(&error.to_string()).hint("try again; the operator finds the reason in the log")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_store::Embedded;

    fn caller(id: &str) -> Caller {
        Caller::named(id)
    }

    fn summary() -> Summary {
        serde_json::from_str(
            r#"{"name":"a","pages":0,"texts":1,"headings":0,"tables":0,"pictures":0,"characters":1,"outline":[]}"#,
        )
        .unwrap()
    }

    fn handles(limits: KeepingLimits) -> Handles {
        Handles::new(Arc::new(Embedded::in_memory().unwrap()), limits, 64 << 20)
    }

    /// Bytes that do not compress.
    fn noise(length: usize) -> Vec<u8> {
        let block = |index: usize| Sha256::digest(index.to_le_bytes());
        (0..length.div_ceil(32)).flat_map(block).take(length).collect()
    }

    #[tokio::test]
    async fn s05_a_handle_belongs_to_its_caller() {
        let handles = handles(KeepingLimits::default());
        let json = noise(9 << 20);
        let handle = handles.keep(&caller("a"), &summary(), json.clone()).await.unwrap();
        assert_eq!(handles.load(&caller("a"), &handle).await.unwrap(), json);
        for (who, handle) in [("b", &*handle), ("a", "doc_"), ("a", "../a"), ("", &*handle)] {
            let refused = handles.load(&caller(who), handle).await.unwrap_err();
            assert_eq!(refused.kind, FaultKind::ResourceNotFound, "{who} {handle}");
        }
    }

    #[tokio::test]
    async fn the_oldest_documents_of_a_caller_make_room() {
        let limits = KeepingLimits { per_caller: 2_500_000, total: 4_000_000, ..KeepingLimits::default() };
        let handles = handles(limits);
        let keep = async |who: &str| handles.keep(&caller(who), &summary(), noise(1_000_000)).await;
        for _ in 0..3 {
            keep("a").await.unwrap();
        }
        let kept = handles.all(&info_key(&caller("a"), "")).await.unwrap();
        assert_eq!(kept.len(), 2);
        keep("b").await.unwrap();
        assert!(keep("c").await.unwrap_err().message.contains("too many"));
        let large = handles.keep(&caller("a"), &summary(), noise(3_000_000)).await.unwrap_err();
        assert_eq!(large.kind, FaultKind::FileTooLarge);
    }
}
