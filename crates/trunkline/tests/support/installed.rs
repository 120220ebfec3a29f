//! Location of the programs that `cargo xtask peers` installs.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The variable with the peers' location, if it is not the default one.
const PEERS: &str = "TRUNKLINE_PEERS";

pub(crate) fn installed(path: &str) -> PathBuf {
    let place = root().join(path);
    assert!(place.exists(), "`{path}` is not installed; run cargo xtask peers");
    place
}

pub(crate) fn root() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is started by the build, which says so in the environment"
    )]
    let given = env::var_os(PEERS).map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = || here.ancestors().map(|dir| dir.join("target/peers")).find(|dir| dir.is_dir());
    given.or_else(found).expect("test peers are not installed; run cargo xtask peers")
}
