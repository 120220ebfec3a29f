//! Resolves a path below a root to an open parent directory and a name.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::dir::{Dir, kind_of};
use super::error::AccessError;
use super::kind::Kind;
use super::label::escape_bytes;
use super::name::{Name, RelPath};
use super::root::Root;
use super::spot::Spot;

/// Maximum number of links in one path; the same as in Linux.
pub(super) const MAX_LINKS: usize = 40;

/// Flags of a descriptor used only to resolve names: `O_PATH` where available, which needs no read
/// permission.
#[cfg(target_os = "linux")]
pub(super) const WALK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const WALK: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Treatment of a link as the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// Treatment of missing parent directories.
#[derive(Clone, Copy)]
pub(super) enum Missing<'a> {
    Refuse,
    /// Each one is created if this check of it succeeds.
    Create(&'a dyn Fn(&Spot) -> Result<(), AccessError>),
}

pub(super) fn resolve(
    root: &Arc<Root>,
    path: &RelPath,
    last: Last,
    missing: Missing<'_>,
) -> Result<Spot, AccessError> {
    let Some((name, parents)) = path.split_last() else { return Ok(Spot::new(root.top(), None)) };
    match open_plain(root, parents) {
        Ok(dir) if last == Last::Keep || !is_link(&dir, name) => Ok(Spot::new(dir, Some(name.clone()))),
        // A link in the path, a missing directory, or no `openat2`: resolve it component by
        // component.
        Ok(_)
        | Err(Errno::LOOP | Errno::NOENT | Errno::NOTDIR | Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {
            Walk::new(root, path).run(last, missing)
        }
        Err(errno) => Err(AccessError::from_errno(errno, root.label(path))),
    }
}

/// Opens a directory whose path contains no link, in one atomic system call.
#[cfg(target_os = "linux")]
fn open_plain(root: &Arc<Root>, parents: &[Name]) -> Result<Dir, Errno> {
    use rustix::fs::ResolveFlags;

    if parents.is_empty() {
        return Ok(root.top());
    }
    let path = RelPath::new(parents.to_vec());
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let flags = WALK | OFlags::DIRECTORY;
    let fd = rustix::fs::openat2(root.fd(), path.to_os_string(), flags, Mode::empty(), resolve)?;
    Ok(Dir::new(Arc::clone(root), Arc::new(fd), path))
}

#[cfg(not(target_os = "linux"))]
fn open_plain(root: &Arc<Root>, parents: &[Name]) -> Result<Dir, Errno> {
    if parents.is_empty() { Ok(root.top()) } else { Err(Errno::NOSYS) }
}

fn is_link(dir: &Dir, name: &Name) -> bool {
    dir.stat(name).is_ok_and(|stat| kind_of(&stat) == Kind::Symlink)
}

/// Resolves a path component by component. `..` in a link goes back on a stack of open
/// directories: the kernel never resolves `..` and never follows a link.
struct Walk<'a> {
    root: &'a Arc<Root>,
    asked: &'a RelPath,
    stack: Vec<(Arc<OwnedFd>, Name)>,
    ahead: VecDeque<Step>,
    links: usize,
}

struct Step {
    name: Vec<u8>,
    origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Asked,
    Link,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Arc<Root>, asked: &'a RelPath) -> Self {
        let step = |name: &Name| Step { name: name.as_bytes().to_vec(), origin: Origin::Asked };
        Self { root, asked, stack: Vec::new(), ahead: asked.names().iter().map(step).collect(), links: 0 }
    }

    fn run(mut self, last: Last, missing: Missing<'_>) -> Result<Spot, AccessError> {
        while let Some(Step { name, origin }) = self.ahead.pop_front() {
            if name == b".." {
                if self.stack.pop().is_none() {
                    return Err(self.leads_out(b".."));
                }
                continue;
            }
            let Some(name) = Name::new(&name) else { continue };
            if !self.ahead.is_empty() {
                self.enter(name, origin, missing)?;
            } else if last == Last::Keep || !self.follow_last(&name, origin)? {
                return Ok(self.here(Some(name)));
            }
        }
        let name = self.stack.pop().map(|(_, name)| name);
        Ok(self.here(name))
    }

    /// Enters a directory, or continues with the components of a link's target.
    fn enter(&mut self, name: Name, origin: Origin, missing: Missing<'_>) -> Result<(), AccessError> {
        match self.open(&name) {
            Ok(fd) => self.stack.push((Arc::new(fd), name)),
            Err(Errno::NOENT)
                if origin == Origin::Asked
                    && let Missing::Create(check) = missing =>
            {
                check(&self.here(Some(name.clone())))?;
                match rustix::fs::mkdirat(self.current(), name.as_os_str(), Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(self.failed(errno)),
                }
                let fd = self.open(&name).map_err(|errno| self.failed(errno))?;
                self.stack.push((Arc::new(fd), name));
            }
            Err(Errno::NOTDIR | Errno::LOOP) => match self.read_link(&name) {
                Ok(target) => self.splice(&target)?,
                Err(Errno::INVAL) => {
                    let found = self.here(Some(name)).kind().unwrap_or(Kind::Unknown);
                    return Err(AccessError::NotADirectory { path: self.label(), found });
                }
                Err(errno) => return Err(self.failed(errno)),
            },
            Err(Errno::NOENT) if !self.root.top().is_deleted() => {
                return Err(AccessError::Missing { path: self.here(Some(name)).label() });
            }
            Err(errno) => return Err(self.failed(errno)),
        }
        Ok(())
    }

    /// Returns true if the last name was a link; its target is then queued for resolution.
    fn follow_last(&mut self, name: &Name, origin: Origin) -> Result<bool, AccessError> {
        match self.read_link(name) {
            Ok(target) => self.splice(&target).map(|()| true),
            Err(Errno::INVAL) => Ok(false),
            Err(Errno::NOENT) if origin == Origin::Asked => Ok(false),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    fn splice(&mut self, target: &[u8]) -> Result<(), AccessError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(AccessError::TooManyLinks { path: self.label(), limit: MAX_LINKS });
        }
        let mut names: Vec<&[u8]> =
            target.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b".")).collect();
        if target.starts_with(b"/") {
            let own = self.root.real().names();
            let inside = names.len() >= own.len() && own.iter().zip(&names).all(|(a, b)| a.as_bytes() == *b);
            if !inside {
                return Err(self.leads_out(target));
            }
            names.drain(..own.len());
            self.stack.clear();
        }
        for name in names.into_iter().rev() {
            self.ahead.push_front(Step { name: name.to_vec(), origin: Origin::Link });
        }
        Ok(())
    }

    fn open(&self, name: &Name) -> Result<OwnedFd, Errno> {
        let flags = WALK | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        rustix::fs::openat(self.current(), name.as_os_str(), flags, Mode::empty())
    }

    fn read_link(&self, name: &Name) -> Result<Vec<u8>, Errno> {
        // The entry is no longer a link; treat it as a plain entry.
        match rustix::fs::statat(self.current(), name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind_of(&stat) != Kind::Symlink => return Err(Errno::INVAL),
            Ok(_) => {}
            Err(errno) => return Err(errno),
        }
        rustix::fs::readlinkat(self.current(), name.as_os_str(), Vec::new())
            .map(std::ffi::CString::into_bytes)
    }

    fn current(&self) -> std::os::fd::BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.stack.last().map_or_else(|| self.root.fd(), |(fd, _)| fd.as_fd())
    }

    fn here(&self, name: Option<Name>) -> Spot {
        let path = self.stack.iter().map(|(_, name)| name.clone()).collect();
        let dir = match self.stack.last() {
            Some((fd, _)) => Dir::new(Arc::clone(self.root), Arc::clone(fd), path),
            None => self.root.top(),
        };
        Spot::new(dir, name)
    }

    fn label(&self) -> String {
        self.root.label(self.asked)
    }

    fn leads_out(&self, link: &[u8]) -> AccessError {
        AccessError::LeadsOut { path: self.label(), link: escape_bytes(link) }
    }

    fn failed(&self, errno: Errno) -> AccessError {
        if errno == Errno::NOENT && self.root.top().is_deleted() {
            return AccessError::RootGone { path: escape_bytes(self.root.path().as_os_str().as_bytes()) };
        }
        AccessError::from_errno(errno, self.label())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::roots::Roots;
    use super::*;

    /// Without `openat2` every path is resolved by components; the result must be the same.
    #[test]
    fn step_by_step_and_in_one_step_lead_to_the_same_place() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp.path().join("a/b")).unwrap();
        std::fs::write(temp.path().join("a/b/file"), "").unwrap();
        symlink("../..", temp.path().join("a/out")).unwrap();
        let roots = Roots::open([temp.path()]).unwrap();
        for path in ["a", "a/b", "a/b/file", "a/b/new", "a/missing/x", "a/b/file/x", "missing", "a/out/x"] {
            let (root, path) = roots.find(path).unwrap();
            let quick = resolve(&root, &path, Last::Keep, Missing::Refuse);
            let slow = Walk::new(&root, &path).run(Last::Keep, Missing::Refuse);
            match (quick, slow) {
                (Ok(quick), Ok(slow)) => {
                    assert_eq!(quick.real_path(), slow.real_path());
                    let inode = |spot: &Spot| spot.stat().map(|stat| stat.st_ino).ok();
                    assert_eq!(inode(&quick), inode(&slow));
                }
                (Err(quick), Err(slow)) => assert_eq!(quick.to_string(), slow.to_string()),
                (quick, slow) => panic!("{quick:?} {slow:?}"),
            }
        }
    }
}
