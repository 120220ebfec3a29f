//! Turns settings into the store: the data that outlives a request.

use crate::failure::Failure;
use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
};
use trunkline_config::{Settings, StorePlace};
use trunkline_store::{Lazy, Place, Store};

/// The one store of this process. It is opened with its first operation, so that a process that
/// never needs it pays nothing, and several processes can have the same file configured as long as
/// only one of them uses it.
pub(crate) fn open(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    let place = match &settings.store {
        StorePlace::Memory => Place::Memory,
        StorePlace::Url(url) => Place::Url(url.expose().to_owned()),
        StorePlace::Path(path) => {
            if let Some(folder) = folder(settings) {
                create(&folder)?;
            }
            Place::File(path.clone())
        }
    };
    Ok(Arc::new(Lazy::new(place)))
}

/// The directory of the store's file; `None` if it has none.
pub(crate) fn folder(settings: &Settings) -> Option<PathBuf> {
    match &settings.store {
        StorePlace::Path(path) => path.parent().map(Path::to_owned),
        StorePlace::Memory | StorePlace::Url(_) => None,
    }
}

/// Creates the directory for its owner only: results of tools may be confidential.
fn create(folder: &Path) -> Result<(), Failure> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        Failure::usage(format!("store.path: {} cannot be created: {error}", folder.display()))
            .hint("choose another file with `store.path`, or remove it to keep data in memory")
    })
}
