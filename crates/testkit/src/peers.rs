//! Where `cargo xtask peers` put the servers that are not built here.

use std::{
    env,
    path::{Path, PathBuf},
};

/// Where the peers are, when they are not where `cargo xtask peers` puts them.
const PEERS: &str = "TRUNKLINE_PEERS";

/// A program or file of a peer; a test that needs it ends where it is missing, and says what to do.
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
