//! `delete_file`: removes a file, a link, or a directory.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use super::{lock, walk};
use crate::sandbox::{self, AccessError, Dir, Durability, Kind, Name, Purpose};
use trunkline_secrets::counted;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum depth; bounded because each level holds an open descriptor.
const MAX_DEPTH: usize = 128;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File, link or directory to delete
    path: String,
    /// Delete a directory with everything in it
    #[serde(default)]
    recursive: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Deleted {
    path: String,
    /// Files, links and directories that were removed
    entries_deleted: usize,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "delete_file", run)
        .title("Delete file")
        .description(format!(
            "Deletes a file, a link (never what it points to) or an empty directory. With recursive: true a directory goes with \
             everything in it, up to {} entries; if it holds protected names, another filesystem or more, nothing is deleted. The allowed directory \
             itself cannot be deleted. There is no way to undo this.",
            fs.caps.deleted
        ))
        .destructive()
        .idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Deleted, ToolError> {
    let spot = fs.spot(&args.path, Purpose::Rename)?;
    let (dir, name) = spot.entry()?;
    let _alone = lock(&spot, budget)?;
    let mut entries_deleted = 1;
    match (spot.kind()?, args.recursive) {
        (Kind::Directory, true) => {
            let device = dir.own_stat()?.st_dev;
            let mut tree = Tree { fs, budget, device, count: 0 };
            tree.each(dir, name, Pass::Check, 0)?;
            tree.count = 0;
            tree.each(dir, name, Pass::Delete, 0).map_err(|error| stopped(&error, tree.count))?;
            entries_deleted = tree.count;
        }
        (Kind::Directory, false) => dir.remove_dir(name)?,
        _ => dir.remove_file(name)?,
    }
    if fs.durability == Durability::Flushed {
        dir.sync()?;
    }
    Ok(Deleted { path: spot.label(), entries_deleted })
}

fn stopped(error: &ToolError, count: usize) -> ToolError {
    ToolError::new(format!("{error}; deleted before that: {}", counted(count, "entry")))
        .hint("look what is left and call again")
}

/// Two passes, check and delete, so that a directory that may not be deleted completely is left
/// unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Check,
    Delete,
}

struct Tree<'a> {
    fs: &'a Filesystem,
    budget: &'a Budget,
    device: u64,
    count: usize,
}

impl Tree<'_> {
    fn each(&mut self, parent: &Dir, name: &Name, pass: Pass, depth: usize) -> Result<(), ToolError> {
        let dir = parent.open_dir(name)?;
        let path = parent.label(name);
        if dir.own_stat()?.st_dev != self.device {
            return Err(AccessError::OtherFilesystem { path }.into());
        }
        if dir.is_git_directory() {
            return Err(sandbox::of_git(path).into());
        }
        if depth > MAX_DEPTH {
            return Err(ToolError::new(format!("`{path}` is more than {MAX_DEPTH} levels deep"))
                .hint("delete a part of it first"));
        }
        for entry in walk::sorted(&dir, self.fs.caps.deleted, self.budget)? {
            self.budget.check()?;
            self.may_go(&dir, &entry.name)?;
            match (entry.kind, pass) {
                (Kind::Directory, _) => self.each(&dir, &entry.name, pass, depth + 1)?,
                (_, Pass::Check) => self.counted()?,
                (_, Pass::Delete) => {
                    dir.remove_file(&entry.name)?;
                    self.counted()?;
                }
            }
        }
        if pass == Pass::Delete {
            dir.remove_leftovers();
            parent.remove_dir(name)?;
        }
        self.counted()
    }

    fn may_go(&self, dir: &Dir, name: &Name) -> Result<(), ToolError> {
        match self.fs.sandbox.protected().from_renaming(&dir.path().join(name)) {
            Some(pattern) => {
                Err(AccessError::Protected { path: dir.label(name), pattern: pattern.to_owned() }.into())
            }
            None => Ok(()),
        }
    }

    fn counted(&mut self) -> Result<(), ToolError> {
        self.count += 1;
        if self.count > self.fs.caps.deleted {
            return Err(ToolError::new(format!("there are more than {} entries", self.fs.caps.deleted))
                .hint("delete parts of it one after the other"));
        }
        Ok(())
    }
}
