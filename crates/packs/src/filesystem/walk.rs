//! Walks a directory and everything below it, within limits.

use super::Filesystem;
use super::budget::Budget;
use super::filter::Filter;
use super::ignores::{Ignored, Ignores};
use crate::sandbox::{Dir, Entry, Kind, RelPath};
use trunkline_toolbox::ToolError;

/// Rules of a walk.
#[derive(Debug)]
pub(super) struct Rules {
    /// Maximum depth; 1 is the directory itself.
    pub(super) depth: usize,
    pub(super) exclude: Filter,
    pub(super) ignored: Ignored,
}

/// An entry visited by a walk.
#[derive(Debug)]
pub(super) struct VisitedEntry<'a> {
    pub(super) dir: &'a Dir,
    pub(super) entry: &'a Entry,
    /// Its path below the directory where the walk began.
    pub(super) below: &'a RelPath,
}

/// The visitor's decision to continue or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    On,
    Stop,
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// Stopped by the visitor, the time limit or the limit on entries.
    Early,
}

struct Level {
    dir: Dir,
    entries: std::vec::IntoIter<Entry>,
    below: RelPath,
}

/// Visits entries sorted by name, a directory before its contents. Links are not followed;
/// protected directories and those that cannot be opened are not entered.
pub(super) fn walk(
    fs: &Filesystem,
    top: &Dir,
    rules: &Rules,
    budget: &Budget,
    visit: &mut dyn FnMut(&VisitedEntry<'_>) -> Result<Step, ToolError>,
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
        if visit(&VisitedEntry { dir: &level.dir, entry: &entry, below: &below })? == Step::Stop {
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

/// The entries of one directory, sorted by name.
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
    if fs.sandbox.hides(dir.root(), &dir.path().join(&entry.name)) {
        return None;
    }
    dir.open_dir(&entry.name).ok()
}
