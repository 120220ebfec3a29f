//! Going through a directory and everything below it, within limits.

use super::Filesystem;
use super::budget::Budget;
use super::filter::Filter;
use super::ignores::{Ignored, Ignores};
use crate::sandbox::{Dir, Entry, Kind, RelPath};
use trunkline_toolbox::ToolError;

/// What is looked at.
#[derive(Debug)]
pub(super) struct Rules {
    /// 1 is the directory itself.
    pub(super) depth: usize,
    pub(super) exclude: Filter,
    pub(super) ignored: Ignored,
}

/// An entry on the way.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) dir: &'a Dir,
    pub(super) entry: &'a Entry,
    /// Its path below the directory where the walk began.
    pub(super) below: &'a RelPath,
}

/// Whether the visitor wants more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    On,
    Stop,
}

/// How the walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// The visitor, the time or the number of entries put an end to it.
    Early,
}

struct Level {
    dir: Dir,
    entries: std::vec::IntoIter<Entry>,
    below: RelPath,
}

/// Visits entries in the order of their names, a directory before what is in it. Links are not followed, protected
/// directories not entered, and directories that cannot be opened passed over.
pub(super) fn walk(
    fs: &Filesystem,
    top: &Dir,
    rules: &Rules,
    budget: &Budget,
    visit: &mut dyn FnMut(&Found<'_>) -> Result<Step, ToolError>,
) -> Result<End, ToolError> {
    let mut seen = 0;
    let mut ignores = match rules.ignored {
        Ignored::PassOver => Ignores::above(top),
        Ignored::Include => Ignores::default(),
    };
    let mut levels = vec![enter(top.clone(), RelPath::default(), fs.caps.walked, budget)?];
    ignores.enter(top);
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.entries.next() else {
            levels.pop();
            ignores.leave();
            continue;
        };
        seen += 1;
        if seen > fs.caps.walked || budget.is_spent() {
            return Ok(End::Early);
        }
        let directory = entry.kind == Kind::Directory;
        let below = level.below.join(&entry.name);
        let hidden = rules.ignored == Ignored::PassOver && ignores.hide(&level.dir, &entry.name, directory);
        if hidden || rules.exclude.fits(&below) {
            continue;
        }
        if visit(&Found { dir: &level.dir, entry: &entry, below: &below })? == Step::Stop {
            return Ok(End::Early);
        }
        if directory
            && levels.len() < rules.depth
            && let Some(dir) = inside(fs, &levels, &entry)
            && let Ok(next) = enter(dir, below, fs.caps.walked - seen, budget)
        {
            ignores.enter(&next.dir);
            levels.push(next);
        }
    }
    Ok(End::Complete)
}

/// The entries of one directory, in the order of their names.
pub(super) fn sorted(dir: &Dir, most: usize, budget: &Budget) -> Result<Vec<Entry>, ToolError> {
    let mut entries = Vec::new();
    for entry in dir.entries()?.take(most.saturating_add(1)) {
        entries.push(entry?);
        if entries.len() % 1024 == 0 {
            budget.check()?;
        }
    }
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn enter(dir: Dir, below: RelPath, most: usize, budget: &Budget) -> Result<Level, ToolError> {
    let entries = sorted(&dir, most, budget)?.into_iter();
    Ok(Level { dir, entries, below })
}

fn inside(fs: &Filesystem, levels: &[Level], entry: &Entry) -> Option<Dir> {
    let dir = &levels.last()?.dir;
    if fs.sandbox.protected().from_reading(&dir.path().join(&entry.name)).is_some() {
        return None;
    }
    dir.open_dir(&entry.name).ok()
}
