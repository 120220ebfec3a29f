//! Limits on the files that a program can access, enforced by the kernel (Landlock).
//!
//! Landlock applies to the calling thread, threads that it starts later, and child processes, and
//! cannot be undone. A confined program is therefore started by a thread of its own. Without
//! Landlock in the kernel nothing changes, and the result says so.

use std::{io, path::PathBuf, thread};

use thiserror::Error;
use tokio::{process, runtime::Handle};

/// The files that a program can access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Readable and writable, with everything below them. Missing paths are ignored.
    pub writable: Vec<PathBuf>,
    /// Readable in addition.
    pub reads: Reads,
    pub network: Network,
}

/// Access to TCP; other protocols are not restricted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    #[default]
    Allowed,
    /// Refused where the kernel can (Landlock ABI 4).
    Refused,
}

/// Files outside the writable directories that may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// All files that the user may read; required to start programs such as compilers.
    Anywhere,
    /// Only these, with everything below them. Missing paths are ignored.
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

/// The restriction could not be set up; the thread is unrestricted.
#[derive(Debug, Error)]
#[error("the kernel refused the Landlock file restriction")]
pub struct RestrictionFailed(#[source] Box<dyn std::error::Error + Send + Sync>);

impl Confinement {
    /// Restricts the calling thread and everything that it starts from now on.
    pub fn restrict_thread(&self) -> Result<Restriction, RestrictionFailed> {
        restrict(self)
    }

    /// The degree to which this kernel can enforce it.
    pub fn support(&self) -> Result<Restriction, RestrictionFailed> {
        let tried = thread::scope(|scope| scope.spawn(|| self.restrict_thread()).join());
        tried.unwrap_or(Ok(Restriction::Unavailable))
    }

    /// Starts `command` with this restriction. If the kernel refuses, it runs without: the
    /// restriction is a second layer of defence.
    pub(crate) fn spawn(&self, command: &mut process::Command) -> io::Result<process::Child> {
        let runtime = Handle::current();
        let start = || {
            let _runtime = runtime.enter();
            if let Err(error) = self.restrict_thread() {
                tracing::debug!(%error, "a program runs without a file restriction");
            }
            command.spawn()
        };
        let started = thread::scope(|scope| scope.spawn(start).join());
        started.unwrap_or_else(|_| Err(io::Error::other("the thread that starts programs panicked")))
    }
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &Confinement) -> Result<Restriction, RestrictionFailed> {
    Ok(Restriction::Unavailable)
}

#[cfg(target_os = "linux")]
fn restrict(confinement: &Confinement) -> Result<Restriction, RestrictionFailed> {
    linux::restrict(confinement).map_err(|error| RestrictionFailed(Box::new(error)))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    };

    use super::{Confinement, Network, Reads, Restriction};

    /// The newest Landlock ABI requested; an older kernel applies the rights that it knows.
    const RIGHTS: ABI = ABI::V5;

    pub(super) fn restrict(confinement: &Confinement) -> Result<Restriction, RulesetError> {
        let all = AccessFs::from_all(RIGHTS);
        let read = AccessFs::from_read(RIGHTS);
        let handled = match confinement.reads {
            Reads::Anywhere => AccessFs::from_write(RIGHTS),
            Reads::Only(_) => all,
        };
        let mut rules = Ruleset::default().handle_access(handled)?;
        if confinement.network == Network::Refused {
            rules = rules.handle_access(AccessNet::from_all(RIGHTS))?;
        }
        let mut rules = rules.create()?;
        for path in &confinement.writable {
            rules = allow(rules, path, handled)?;
        }
        if let Reads::Only(paths) = &confinement.reads {
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
