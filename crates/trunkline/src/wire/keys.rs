//! The API keys of the listener: reads their file, and reads it again when it changes.

use super::reread::Reread;
use crate::failure::Failure;
use std::{path::Path, sync::Arc};
use trunkline_auth::{ApiKeys, keys::MAX_FILE};
use trunkline_config::{Seen, read_regular_text};

/// The keys of a file, which is watched for as long as the process lives.
pub(super) fn keys(path: &Path) -> Result<Arc<ApiKeys>, Failure> {
    let watched = path.to_owned();
    let changes = Reread::new(move || vec![Seen::now(&watched)]);
    let keys = Arc::new(read(path)?);
    if keys.all_expired() {
        tracing::warn!(file = %path.display(), "all API keys in this file have expired");
    }
    let (path, read) = (path.to_owned(), keys.clone());
    changes.by(move || reload(&path, &read));
    Ok(keys)
}

/// The keys of a file as it is now.
pub(super) fn read(path: &Path) -> Result<ApiKeys, Failure> {
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
    let text = read_regular_text(path, MAX_FILE).map_err(|error| unusable(&error))?;
    ApiKeys::from_json(&text).map_err(|error| unusable(&error))
}

fn reload(path: &Path, keys: &ApiKeys) {
    let file = path.display();
    let read = read_regular_text(path, MAX_FILE).map_err(|error| error.to_string());
    match read.and_then(|text| keys.reload(&text).map_err(|error| error.to_string())) {
        Ok(()) => tracing::info!(%file, count = keys.len(), "the API keys were read again"),
        Err(reason) => tracing::warn!(%file, reason, "the changed API keys are not used"),
    }
}
