//! The second layer: the kernel itself refuses this process files elsewhere (Landlock).
//!
//! It holds for the calling thread, threads that it starts later, and child programs, and cannot be undone. So it is
//! called once, before the runtime starts its threads. Where the kernel has no Landlock nothing changes, and the caller is told.

use std::path::PathBuf;

use thiserror::Error;

use super::roots::Roots;

/// What may be read outside the roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Everything the account may read: needed as soon as programs such as git or compilers are started.
    Anywhere,
    /// These and nothing else.
    Only(Vec<PathBuf>),
}

/// How much of it the kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// All that was asked for.
    Full,
    /// An older kernel: only part of the rights are checked.
    Partial,
    /// The kernel has no Landlock, or it is switched off.
    Unavailable,
}

/// The restriction could not be set up; the process is as it was before.
#[derive(Debug, Error)]
#[error("the kernel did not take the file restriction")]
pub struct RestrictionFailed(#[source] Box<dyn std::error::Error + Send + Sync>);

/// Lets this process write only below the roots and the further paths in `also`, and read as `reads` says (what may be
/// written may be read). Paths in `also` and `reads` that do not exist are passed over.
#[cfg(target_os = "linux")]
pub fn restrict_process(
    roots: &Roots,
    also: &[PathBuf],
    reads: &Reads,
) -> Result<Restriction, RestrictionFailed> {
    linux::restrict(roots, also, reads).map_err(|error| RestrictionFailed(Box::new(error)))
}

#[cfg(not(target_os = "linux"))]
pub fn restrict_process(_: &Roots, _: &[PathBuf], _: &Reads) -> Result<Restriction, RestrictionFailed> {
    Ok(Restriction::Unavailable)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
        RulesetCreatedAttr, RulesetError, RulesetStatus,
    };

    use super::{Reads, Restriction, Roots};

    /// The newest set of rights that is asked for; an older kernel takes what it knows.
    const RIGHTS: ABI = ABI::V5;

    pub(super) fn restrict(
        roots: &Roots,
        also: &[PathBuf],
        reads: &Reads,
    ) -> Result<Restriction, RulesetError> {
        let all = AccessFs::from_all(RIGHTS);
        let read = AccessFs::from_read(RIGHTS);
        let handled = match reads {
            Reads::Anywhere => AccessFs::from_write(RIGHTS),
            Reads::Only(_) => all,
        };
        let mut rules = Ruleset::default().handle_access(handled)?.create()?;
        for root in roots.iter() {
            rules = rules.add_rule(PathBeneath::new(root.fd(), all & handled))?;
        }
        for path in also {
            rules = allow(rules, path, all & handled)?;
        }
        if let Reads::Only(paths) = reads {
            for path in paths {
                rules = allow(rules, path, read)?;
            }
        }
        Ok(match rules.restrict_self()?.ruleset {
            RulesetStatus::FullyEnforced => Restriction::Full,
            RulesetStatus::PartiallyEnforced => Restriction::Partial,
            RulesetStatus::NotEnforced => Restriction::Unavailable,
        })
    }

    /// A right that only directories have is left out for a file, where the kernel would refuse the rule.
    fn allow(
        rules: RulesetCreated,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, RulesetError> {
        let Ok(fd) = PathFd::new(path) else { return Ok(rules) };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(RIGHTS) };
        rules.add_rule(PathBeneath::new(fd, access))
    }
}
