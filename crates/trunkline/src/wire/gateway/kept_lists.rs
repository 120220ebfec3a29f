//! The lists of each server as last read, kept between runs in the user's cache directory, so that
//! the first list after a start is complete.
//!
//! A file is found by the fingerprint of everything that defines its server: a changed command or
//! address starts with no lists.

use crate::{
    environment::Environment,
    remembered::{cache_directory, fingerprint, replace},
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use trunkline_client::Target;
use trunkline_config::{Reach, Server, read_regular_text};
use trunkline_gateway::upstream::{Offer, Upstream};
use trunkline_protocol::Raw;

/// Maximum size of a kept file; larger lists are not kept.
const MAX_FILE: usize = 16 * 1024 * 1024;
/// Maximum number of kept files; the oldest are removed.
const MAX_FILES: usize = 256;
/// Pause after a write, so that a server that keeps changing its lists does not keep the disk busy.
const PAUSE: Duration = Duration::from_secs(5);

/// The directory of the kept lists.
#[derive(Debug, Clone)]
pub(super) struct KeptLists(Option<PathBuf>);

impl KeptLists {
    pub(super) fn find(environment: &Environment) -> Self {
        Self(cache_directory(environment).map(|cache| cache.join("lists")))
    }

    /// Gives the server its lists of the last run, and keeps what it lists from now on.
    pub(super) fn attach(&self, server: &Server, target: &Target, upstream: &Arc<Upstream>) {
        let Some(folder) = &self.0 else { return };
        let file = folder.join(format!("{}.json", fingerprint(&definition(server, target))));
        let kept = read(&file);
        let written = kept.as_ref().map(|offer| fingerprint(offer.to_json().as_str()));
        if let Some(offer) = kept {
            upstream.recall(offer);
        }
        tokio::spawn(keep(file, written, Arc::downgrade(upstream), upstream.watch()));
    }
}

/// Writes each new offer, until the upstream is dropped. `written` is the fingerprint of the file,
/// so that no second copy of the lists stays in memory.
async fn keep(
    file: PathBuf,
    mut written: Option<String>,
    upstream: std::sync::Weak<Upstream>,
    mut versions: tokio::sync::watch::Receiver<u64>,
) {
    loop {
        let offer = upstream.upgrade().and_then(|upstream| upstream.offer());
        let json = offer.filter(|offer| !offer.stale).map(|offer| offer.to_json());
        let found = json.map(|json| (fingerprint(json.as_str()), json));
        if let Some((print, json)) = found.filter(|(print, _)| written.as_ref() != Some(print)) {
            let file = file.clone();
            let done = tokio::task::spawn_blocking(move || write(&file, &json)).await;
            if let Ok(Err(error)) = done {
                tracing::debug!("lists cannot be kept: {error}");
            }
            written = Some(print);
            tokio::time::sleep(PAUSE).await;
        }
        if versions.changed().await.is_err() {
            return;
        }
    }
}

fn read(file: &Path) -> Option<Offer> {
    let text = read_regular_text(file, MAX_FILE as u64).ok()?;
    Offer::kept(&Raw::parse(text).ok()?)
}

fn write(file: &Path, json: &Raw) -> std::io::Result<()> {
    if json.as_bytes().len() > MAX_FILE {
        return Ok(());
    }
    replace(file, json.as_str())?;
    file.parent().map_or(Ok(()), remove_oldest)
}

fn remove_oldest(folder: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        files.push((entry.metadata()?.modified()?, entry.path()));
    }
    files.sort();
    let surplus = files.len().saturating_sub(MAX_FILES);
    files.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
}

/// Everything that decides which server is reached, and as whom.
fn definition(server: &Server, target: &Target) -> String {
    let identity: Vec<(&str, &str)> = match &server.reach {
        Reach::Local(local) => pairs(&local.environment),
        Reach::Remote(remote) => pairs(&remote.headers),
        Reach::Builtin(_) | Reach::Unusable(_) => Vec::new(),
    };
    let adapter = match &server.reach {
        Reach::Local(local) => local.adapter.as_ref().map(|adapted| adapted.adapter),
        _ => None,
    };
    // Written only if there is one, so that lists kept earlier are still found.
    let adapter = adapter.map(|adapter| format!(" {adapter:?}")).unwrap_or_default();
    format!("{} {} {identity:?}{adapter}", server.name, target.key())
}

fn pairs<'a>(
    values: impl IntoIterator<Item = (&'a String, &'a trunkline_config::Secret)>,
) -> Vec<(&'a str, &'a str)> {
    values.into_iter().map(|(name, value)| (name.as_str(), value.expose())).collect()
}
