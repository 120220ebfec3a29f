//! Second layer of defence: Landlock makes the kernel refuse this process access to other files.
//!
//! It applies to the calling thread, threads that it starts later, and child processes, and cannot
//! be undone. So it is called once, before the runtime starts its threads. Without Landlock in the
//! kernel nothing changes, and the result says so.

use std::path::PathBuf;

use thiserror::Error;

use super::roots::Roots;

/// Files outside the roots that may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// All files that the user may read; required to start programs such as git or compilers.
    Anywhere,
    /// Only these.
    Only(Vec<PathBuf>),
}

/// Degree to which the kernel enforces the restriction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// Completely.
    Full,
    /// Partly: an older kernel does not check all rights.
    Partial,
    /// The kernel has no Landlock, or it is switched off.
    Unavailable,
}

/// The restriction could not be set up; the process is unrestricted.
#[derive(Debug, Error)]
#[error("the kernel refused the Landlock file restriction")]
pub struct RestrictionFailed(#[source] Box<dyn std::error::Error + Send + Sync>);

/// Restricts this process: it can write only below the roots and the paths in `also`, and read
/// these and whatever `reads` allows. Paths in `also` and `reads` that do not exist are ignored.
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

    /// The newest Landlock ABI requested; an older kernel applies the rights that it knows.
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

    /// Adds a rule for a path. Rights that apply only to directories are omitted for a file,
    /// because the kernel would refuse the rule.
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
