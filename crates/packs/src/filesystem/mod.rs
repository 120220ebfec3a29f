//! The filesystem pack: reads, searches and, if allowed, changes files below allowed directories.
//!
//! Each tool has its own file with its arguments, its result and a plain function that does the
//! work. Tools access files only through [`Sandbox`]; their input and output is bounded by
//! [`Caps`].

mod budget;
mod copy_file;
mod create_directory;
pub(crate) mod credentials;
mod delete_file;
mod directory_tree;
mod edit_file;
mod edits;
mod encoding;
mod exists;
mod filter;
mod get_file_info;
mod hash;
mod ignores;
mod list_allowed_directories;
mod list_directory;
mod move_file;
mod options;
mod read_file;
mod read_media_file;
mod read_multiple_files;
mod search_content;
mod search_files;
mod walk;
mod window;
mod write_file;

use std::fs::File;
use std::sync::Arc;

use rustix::fs::Stat;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sandbox::{AccessError, Dir, FileLock, HardLinks, Name, Purpose, Roots, Sandbox, Spot, sweep_all};
use trunkline_toolbox::{Json, Tool, ToolError};

use budget::Budget;
pub use options::{Access, Caps, FilesystemOptions};

/// The tools for the roots and access in the options. The roots are opened now and stay pinned.
pub fn pack(options: FilesystemOptions) -> Result<Vec<Tool>, AccessError> {
    let roots = Roots::open(&options.roots)?;
    Ok(tools(roots, options))
}

/// The tools for roots that are already open, such as the intersection with a client's roots.
pub fn tools(roots: Roots, options: FilesystemOptions) -> Vec<Tool> {
    let access = options.access;
    let fs = Arc::new(Filesystem {
        sandbox: Sandbox::new(roots, options.protected, options.hard_links),
        caps: options.caps,
        access,
        durability: options.durability,
    });
    let mut tools = vec![
        read_file::tool(&fs),
        read_multiple_files::tool(&fs),
        read_media_file::tool(&fs),
        list_directory::tool(&fs),
        directory_tree::tool(&fs),
        search_files::tool(&fs),
        search_content::tool(&fs),
        get_file_info::tool(&fs),
        exists::file_tool(&fs),
        exists::directory_tool(&fs),
        list_allowed_directories::tool(&fs),
    ];
    if access == Access::ReadWrite {
        sweep_all(fs.sandbox.roots());
        tools.extend([
            write_file::tool(&fs),
            edit_file::tool(&fs),
            create_directory::tool(&fs),
            copy_file::tool(&fs),
            move_file::tool(&fs),
            delete_file::tool(&fs),
        ]);
    }
    tools
}

/// Shared state of the tools.
#[derive(Debug)]
struct Filesystem {
    sandbox: Sandbox,
    caps: Caps,
    access: Access,
    durability: crate::sandbox::Durability,
}

/// A regular file that was opened for reading.
struct Opened {
    file: File,
    stat: Stat,
    label: String,
}

impl Filesystem {
    fn spot(&self, path: &str, purpose: Purpose) -> Result<Spot, ToolError> {
        Ok(self.sandbox.spot(path, purpose)?)
    }

    fn open(&self, path: &str) -> Result<Opened, ToolError> {
        let spot = self.spot(path, Purpose::Read)?;
        let file = spot.open_file()?;
        let (dir, name) = spot.entry()?;
        self.read_from(dir, name, file)
    }

    /// A file that is opened for reading its content.
    fn read_from(&self, dir: &Dir, name: &Name, file: File) -> Result<Opened, ToolError> {
        credentials::refuse(dir, name, &file)?;
        self.opened(dir.label(name), file)
    }

    fn opened(&self, label: String, file: File) -> Result<Opened, ToolError> {
        let stat = rustix::fs::fstat(&file).map_err(|errno| io_failed(errno.into(), &label))?;
        if self.sandbox.hard_links() == HardLinks::Refuse && stat.st_nlink > 1 {
            return Err(ToolError::new(format!("`{label}` has several names (hard links)"))
                .hint("such files are not read here, because another name may be outside"));
        }
        Ok(Opened { file, stat, label })
    }
}

/// Locks a file against other writers while it is read and replaced.
fn lock(spot: &Spot, budget: &Budget) -> Result<FileLock, ToolError> {
    let (dir, name) = spot.entry()?;
    Ok(FileLock::take(dir, name, || budget.is_spent())?)
}

impl Opened {
    fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }
}

impl From<AccessError> for ToolError {
    fn from(error: AccessError) -> Self {
        Self::new(error.to_string()).hint(error.hint())
    }
}

fn io_failed(error: std::io::Error, label: &str) -> ToolError {
    AccessError::from_io(error, label.to_owned()).into()
}

/// A tool from a blocking function.
fn tool<A, R>(
    fs: &Arc<Filesystem>,
    name: &str,
    run: fn(&Filesystem, &A, &Budget) -> Result<R, ToolError>,
) -> Tool
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    let fs = Arc::clone(fs);
    Tool::new(name, move |args: A| {
        let fs = Arc::clone(&fs);
        async move {
            let time = fs.caps.time;
            budget::blocking(time, move |budget| run(&fs, &args, budget).map(Json)).await
        }
    })
    .closed_world()
}
