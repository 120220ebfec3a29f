//! `directory_tree`: shows a directory and its contents as a tree.

use std::collections::VecDeque;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use super::filter::Filter;
use super::ignores::{Ignored, Ignores};
use super::walk;
use crate::sandbox::{Dir, Kind, Purpose, RelPath, escape_bytes};
use trunkline_toolbox::{Tool, ToolError};

const USUAL_DEPTH: usize = 4;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Top directory; `.` is the allowed directory itself
    path: String,
    /// Maximum depth; default 4
    #[schemars(range(min = 1))]
    max_depth: Option<usize>,
    /// Maximum number of entries
    #[schemars(range(min = 1))]
    max_entries: Option<usize>,
    /// Globs of entries to exclude; a glob without `/` matches names at any depth
    #[serde(default)]
    exclude: Vec<String>,
    /// Include entries ignored by `.gitignore`, and `.git`
    #[serde(default)]
    include_ignored: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tree {
    path: String,
    children: Vec<Node>,
    /// Entries in this answer
    entries: usize,
    /// True if entries are missing because of the limits on number or depth
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    name: String,
    r#type: Kind,
    /// Only for directories that were read
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<Node>>,
    /// True for a directory with more entries than shown
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "directory_tree", run)
        .title("Directory tree")
        .description(format!(
            "Shows a directory and what is below it as a tree, nearest levels first. It goes down {USUAL_DEPTH} levels unless \
             max_depth says otherwise (at most {}), and shows at most {} entries; a directory with more is \
             marked `truncated`. What `.gitignore` names is left out unless include_ignored is true. Links are not followed.",
            fs.caps.depth, fs.caps.entries
        ))
        .read_only()
        .idempotent()
}

/// A node in a flat list, referenced by index; the nested tree is built at the end.
struct Flat {
    name: String,
    kind: Kind,
    children: Option<Vec<usize>>,
    truncated: bool,
}

struct Growing<'a> {
    fs: &'a Filesystem,
    top: Dir,
    exclude: Filter,
    ignored: Ignored,
    most: usize,
    nodes: Vec<Flat>,
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Tree, ToolError> {
    let spot = fs.spot(&args.path, Purpose::Read)?;
    let depth = args.max_depth.unwrap_or(USUAL_DEPTH).clamp(1, fs.caps.depth);
    let mut growing = Growing {
        fs,
        top: spot.open_dir()?,
        exclude: Filter::new(&args.exclude)?,
        ignored: if args.include_ignored { Ignored::Include } else { Ignored::PassOver },
        most: args.max_entries.unwrap_or(fs.caps.entries).clamp(1, fs.caps.entries),
        nodes: vec![Flat { name: String::new(), kind: Kind::Directory, children: None, truncated: false }],
    };
    // Breadth first, so that one deep directory does not use up all entries.
    let mut ahead = VecDeque::from([(0, RelPath::default(), 0)]);
    while let Some((at, below, level)) = ahead.pop_front() {
        if level == depth || growing.nodes.len() > growing.most || budget.is_spent() {
            growing.nodes[at].truncated = true;
            continue;
        }
        for (child, path) in growing.grow(at, &below, budget) {
            ahead.push_back((child, path, level + 1));
        }
    }
    let entries = growing.nodes.len() - 1;
    let truncated = growing.nodes.iter().any(|node| node.truncated);
    let children = nest(&mut growing.nodes, 0).children.unwrap_or_default();
    Ok(Tree { path: spot.label(), children, entries, truncated })
}

impl Growing<'_> {
    /// Adds the entries of one directory, and returns its subdirectories.
    fn grow(&mut self, at: usize, below: &RelPath, budget: &Budget) -> Vec<(usize, RelPath)> {
        let Some((dir, found)) = self.look(below, budget) else {
            self.nodes[at].truncated = true;
            return Vec::new();
        };
        let mut ignores = Ignores::default();
        if self.ignored == Ignored::PassOver {
            ignores = Ignores::above(&dir);
            ignores.enter(&dir);
        }
        let mut children = Vec::new();
        let mut directories = Vec::new();
        for entry in found {
            let path = below.join(&entry.name);
            let directory = entry.kind == Kind::Directory;
            let hidden = self.ignored == Ignored::PassOver && ignores.hide(&dir, &entry.name, directory);
            if hidden || self.exclude.fits(&path) {
                continue;
            }
            if self.nodes.len() > self.most {
                self.nodes[at].truncated = true;
                break;
            }
            let child = self.nodes.len();
            let name = escape_bytes(entry.name.as_bytes());
            self.nodes.push(Flat { name, kind: entry.kind, children: None, truncated: false });
            children.push(child);
            if directory {
                directories.push((child, path));
            }
        }
        self.nodes[at].children = Some(children);
        directories
    }

    /// Opens and reads a queued directory. The queue holds paths, because open descriptors are
    /// limited.
    fn look(&self, below: &RelPath, budget: &Budget) -> Option<(Dir, Vec<crate::sandbox::Entry>)> {
        let mut dir = self.top.clone();
        for name in below.names() {
            dir = dir.open_dir(name).ok()?;
        }
        if self.fs.sandbox.hides(dir.root(), dir.path()) {
            return None;
        }
        let entries = walk::sorted(&dir, self.fs.caps.walked, budget).ok()?;
        Some((dir, entries))
    }
}

fn nest(nodes: &mut [Flat], at: usize) -> Node {
    let children = nodes[at].children.take();
    let children = children.map(|children| children.into_iter().map(|child| nest(nodes, child)).collect());
    let Flat { name, kind, truncated, .. } = &mut nodes[at];
    Node { name: std::mem::take(name), r#type: *kind, children, truncated: *truncated }
}
