//! The API keys of the listener: reads their file, and reads it again when it changes.

use crate::failure::Failure;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use trunkline_auth::ApiKeys;
use trunkline_config::{Seen, Watch, read_regular_text};

/// Maximum size of an API key file.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The keys of a file, which is watched for as long as the process lives.
pub(super) fn keys(path: &Path) -> Result<Arc<ApiKeys>, Failure> {
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
    let watch = Watch::new(vec![Seen::now(path)]);
    let text = read_regular_text(path, MAX_FILE).map_err(|error| unusable(&error))?;
    let keys = Arc::new(ApiKeys::from_json(&text).map_err(|error| unusable(&error))?);
    if keys.all_expired() {
        tracing::warn!(file = %path.display(), "all API keys in this file have expired");
    }
    // Commands that only check the settings have no runtime.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(reload(path.to_owned(), keys.clone(), watch));
    }
    Ok(keys)
}

async fn reload(path: PathBuf, keys: Arc<ApiKeys>, mut watch: Watch) {
    loop {
        watch.changed().await;
        watch.follow(vec![Seen::now(&path)]);
        let file = path.display();
        let read = read_regular_text(&path, MAX_FILE).map_err(|error| error.to_string());
        match read.and_then(|text| keys.reload(&text).map_err(|error| error.to_string())) {
            Ok(()) => tracing::info!(%file, count = keys.len(), "the API keys were read again"),
            Err(reason) => tracing::warn!(%file, reason, "the changed API keys are not used"),
        }
    }
}
