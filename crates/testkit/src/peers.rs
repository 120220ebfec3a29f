//! Finds the servers that `cargo xtask peers` installed.

use std::{
    env,
    path::{Path, PathBuf},
};

/// Variable with the folder of the peers; without it, `target/peers` is used.
const PEERS: &str = "TRUNKLINE_PEERS";

/// Returns the path of a peer's program or file; panics with a hint if it is not installed.
pub fn installed(path: &str) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is started by the build, which says so in the environment"
    )]
    let given = env::var_os(PEERS).map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = || here.ancestors().map(|dir| dir.join("target/peers")).find(|dir| dir.is_dir());
    let place = given.or_else(found).map(|peers| peers.join(path)).filter(|place| place.exists());
    place.unwrap_or_else(|| panic!("`{path}` is not installed; run cargo xtask peers")).display().to_string()
}
