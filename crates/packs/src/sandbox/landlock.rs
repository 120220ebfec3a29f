//! Second layer of defence: Landlock makes the kernel refuse this process access to other files.
//!
//! It is set up once, before the runtime starts its threads, because only threads started later
//! inherit it.

use std::path::PathBuf;

use trunkline_process::{Confinement, Network, Reads, Restriction, RestrictionFailed};

use super::roots::Roots;

/// Restricts this process: it can write only below the roots and the paths in `also`, and read
/// these and whatever `reads` allows. Paths in `also` and `reads` that do not exist are ignored.
pub fn restrict_process(
    roots: &Roots,
    also: &[PathBuf],
    reads: &Reads,
) -> Result<Restriction, RestrictionFailed> {
    let roots = roots.iter().map(|root| root.path().to_owned());
    let writable = roots.chain(also.iter().cloned()).collect();
    Confinement { writable, reads: reads.clone(), network: Network::Allowed }.restrict_thread()
}
