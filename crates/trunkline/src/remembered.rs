//! Cache of facts about servers, kept between runs in `servers.json` in the user's cache
//! directory.
//!
//! The file contains no addresses or commands, which may hold secrets, but only their
//! fingerprints. If it is lost or corrupt, servers are merely probed again.

use crate::environment::{self, Environment};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};
use trunkline_client::{KnownTransport, Memory};

/// Maximum number of entries; arbitrary ones are evicted.
const MAX_ENTRIES: usize = 1024;
/// Maximum size of the file; a larger one was not written by us.
const MAX_FILE: u64 = 1024 * 1024;

/// Handle of the cache file.
#[derive(Debug)]
pub(crate) struct Remembered(PathBuf);

impl Remembered {
    /// Returns `None` if the environment names no cache directory.
    pub(crate) fn find(environment: &Environment) -> Option<Self> {
        Some(Self(cache_directory(environment)?.join("servers.json")))
    }

    /// Returns what is known about one target.
    pub(crate) fn memory_of(&self, key: &str) -> Memory {
        let known = self.read().remove(&fingerprint(key));
        let way: Option<KnownTransport> = known.and_then(|way| serde_json::from_value(way).ok());
        Memory::from_entries(way.map(|way| (key.to_owned(), way)).into_iter().collect::<BTreeMap<_, _>>())
    }

    /// Stores what is known about one target, if it changed. Errors are ignored: it is only a
    /// cache.
    pub(crate) fn keep(&self, key: &str, way: Option<KnownTransport>) {
        let mut entries = self.read();
        let fingerprint = fingerprint(key);
        let way = way.and_then(|way| serde_json::to_value(way).ok());
        if entries.get(&fingerprint) == way.as_ref() {
            return;
        }
        entries.remove(&fingerprint);
        while entries.len() >= MAX_ENTRIES {
            let Some(other) = entries.keys().next().cloned() else { break };
            entries.remove(&other);
        }
        entries.extend(way.map(|way| (fingerprint, way)));
        let text = json!({"servers": entries}).to_string();
        if let Err(error) = replace(&self.0, &text) {
            tracing::debug!("{} cannot be written: {error}", self.0.display());
        }
    }

    fn read(&self) -> Map<String, Value> {
        let text = trunkline_config::read_regular_text(&self.0, MAX_FILE).ok();
        let file: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
        match file.and_then(|mut file| file.get_mut("servers").map(Value::take)) {
            Some(Value::Object(servers)) => servers,
            _ => Map::new(),
        }
    }
}

/// Our directory in the user's cache directory; `None` if the environment names none.
pub(crate) fn cache_directory(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute(environment::CACHE_HOME)
        .or_else(|| absolute(environment::HOME).map(|home| home.join(".cache")))?;
    Some(cache.join("trunkline"))
}

/// Writes a temporary file and renames it, so that readers never see a partial file.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let renamed = io::Write::write_all(&mut file, text.as_bytes()).and_then(|()| fs::rename(&draft, path));
    renamed.inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// The hash may change with the standard library; that only invalidates the cache.
pub(crate) fn fingerprint(key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, Remembered) {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::of([("XDG_CACHE_HOME", folder.path().to_str().unwrap())]);
        let file = Remembered::find(&environment).unwrap();
        (folder, file)
    }

    #[test]
    fn what_is_kept_is_found_again_and_names_nobody() {
        let (_folder, file) = file();
        file.keep("server --token s3cret", Some(KnownTransport::LegacySse));
        file.keep("other", Some(KnownTransport::Modern));
        assert_eq!(
            file.memory_of("server --token s3cret").recall("server --token s3cret"),
            Some(KnownTransport::LegacySse)
        );
        assert_eq!(file.memory_of("third").recall("third"), None);
        assert!(!fs::read_to_string(&file.0).unwrap().contains("s3cret"));
        file.keep("other", None);
        assert_eq!(file.memory_of("other").recall("other"), None);
    }

    #[test]
    fn garbage_is_forgotten_and_replaced() {
        let (_folder, file) = file();
        file.keep("a", Some(KnownTransport::Modern));
        for garbage in ["", "not json", "[]", r#"{"servers":7}"#, r#"{"servers":{"x":{}}}"#] {
            fs::write(&file.0, garbage).unwrap();
            assert_eq!(file.memory_of("a").recall("a"), None, "{garbage}");
        }
        file.keep("a", Some(KnownTransport::Legacy));
        assert_eq!(file.memory_of("a").recall("a"), Some(KnownTransport::Legacy));
    }

    #[test]
    fn the_file_does_not_grow_without_end() {
        let (_folder, file) = file();
        let full: Map<String, Value> =
            (0..MAX_ENTRIES).map(|i| (format!("{i:04}"), json!("modern"))).collect();
        replace(&file.0, &json!({"servers": full}).to_string()).unwrap();
        file.keep("new", Some(KnownTransport::Modern));
        assert_eq!(file.read().len(), MAX_ENTRIES);
        assert_eq!(file.memory_of("new").recall("new"), Some(KnownTransport::Modern));
    }

    #[test]
    fn there_may_be_no_place_for_it() {
        assert!(Remembered::find(&Environment::default()).is_none());
        let home =
            Remembered::find(&Environment::of([("HOME", "/h"), ("XDG_CACHE_HOME", "relative")])).unwrap();
        assert_eq!(home.0, Path::new("/h/.cache/trunkline/servers.json"));
    }
}
