//! `write_file`: writes a whole file, or appends to one.

use std::io::{self, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::Stat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::hash::hash;
use super::{Filesystem, io_failed, lock, window};
use crate::sandbox::{AccessError, Dir, Draft, Durability, Kind, Like, Name, Onto, Purpose, Spot, kind_of};
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File to write, relative to the allowed directory or absolute inside it
    path: String,
    /// Content, in the given encoding
    content: String,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    encoding: ContentEncoding,
    /// Write only if the file still has this SHA-256, as returned by `read_file`
    expected_hash: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Create the file; fail if it exists
    Create,
    /// Replace the file, or create it
    #[default]
    Overwrite,
    /// Append to the file, or create it
    Append,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
enum ContentEncoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    path: String,
    bytes_written: usize,
    /// True if the file is new
    created: bool,
    /// SHA-256 of the whole file; missing after an append
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "write_file", run)
        .title("Write file")
        .description(format!(
            "Writes a file of at most {} MB; missing parent directories are made. Mode overwrite (the default) replaces the \
             file in one step and keeps its permissions, create refuses if it exists, append adds at its end. With \
             expected_hash nothing is written if the file changed since it was read. To change part of a file use edit_file. \
             A link is not written through: name its target. Of a file with several names (hard links) only this name gets the new content.",
            fs.caps.write_bytes >> 20
        ))
        .destructive()
        .not_idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Done, ToolError> {
    let bytes = content(fs, args)?;
    let spot = fs.spot(&args.path, Purpose::Create)?;
    loop {
        match write(fs, args, (&spot, &bytes), budget)? {
            Some(done) => return Ok(done),
            None => budget.check()?,
        }
    }
}

/// Writes once; `None` if another process has made a file of this name meanwhile, which was
/// therefore not locked.
fn write(
    fs: &Filesystem,
    args: &Args,
    (spot, bytes): (&Spot, &[u8]),
    budget: &Budget,
) -> Result<Option<Done>, ToolError> {
    let (dir, name) = spot.entry()?;
    let _alone = lock(spot, budget)?;
    let existing = existing(dir, name)?;
    check_hash(fs, args, (dir, name), existing.as_ref())?;
    match (&existing, args.mode) {
        (Some(_), Mode::Create) => {
            return Err(ToolError::new(format!("`{}` already exists", spot.label()))
                .hint("use mode: \"overwrite\" to replace it, or edit_file to change part of it"));
        }
        (Some(_), Mode::Append) => append(fs, dir, name, bytes)?,
        (Some(stat), Mode::Overwrite) => {
            put(fs, (dir, name), bytes, Like::Replaced(stat), Onto::Anything)?;
        }
        (None, mode) => match put(fs, (dir, name), bytes, Like::Nothing, Onto::Nothing) {
            Err(AccessError::Exists { .. }) if mode != Mode::Create => return Ok(None),
            made => made?,
        },
    }
    let appended = existing.is_some() && args.mode == Mode::Append;
    Ok(Some(Done {
        path: spot.label(),
        bytes_written: bytes.len(),
        created: existing.is_none(),
        sha256: (!appended).then(|| hash(bytes)),
    }))
}

/// The metadata of the regular file with this name, if it exists. Other types are refused.
pub(super) fn existing(dir: &Dir, name: &Name) -> Result<Option<Stat>, AccessError> {
    let stat = match dir.stat(name) {
        Ok(stat) => stat,
        Err(AccessError::Missing { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    match kind_of(&stat) {
        Kind::File => Ok(Some(stat)),
        Kind::Symlink => Err(dir.is_link(name)),
        found => Err(AccessError::NotAFile { path: dir.label(name), found }),
    }
}

/// Writes a temporary file in the same directory, then renames it.
pub(super) fn put(
    fs: &Filesystem,
    (dir, name): (&Dir, &Name),
    bytes: &[u8],
    like: Like<'_>,
    onto: Onto,
) -> Result<(), AccessError> {
    let mut draft = Draft::begin(dir, like, fs.durability)?;
    draft.write_all(bytes).map_err(|error| AccessError::from_io(error, dir.label(name)))?;
    draft.place(name, onto)
}

/// Appends all bytes, or none if the disk is full.
fn append(fs: &Filesystem, dir: &Dir, name: &Name, bytes: &[u8]) -> Result<(), ToolError> {
    let failed = |error| io_failed(error, &dir.label(name));
    let mut file = dir.open_to_append(name)?;
    let before = file.metadata().map_err(failed)?.len();
    let mut written = 0;
    let mut all = || {
        while written < bytes.len() {
            match file.write(&bytes[written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match fs.durability {
            Durability::Flushed => file.sync_data(),
            Durability::Cached => Ok(()),
        }
    };
    let Err(error) = all() else { return Ok(()) };
    // Only our own bytes are taken back: a program that does not lock may have appended, too.
    let is_ours = file.metadata().is_ok_and(|now| now.len() == before + written as u64);
    if !is_ours || file.set_len(before).is_err() {
        let text = format!("{error}; {written} bytes were added before that");
        return Err(failed(io::Error::other(text)));
    }
    Err(failed(error))
}

fn content(fs: &Filesystem, args: &Args) -> Result<Vec<u8>, ToolError> {
    let bytes = match args.encoding {
        ContentEncoding::Utf8 => args.content.as_bytes().to_vec(),
        ContentEncoding::Base64 => STANDARD.decode(&args.content).map_err(|error| {
            ToolError::new(format!("the content is not base64: {error}"))
                .hint("use standard base64 with padding")
        })?,
    };
    if bytes.len() as u64 > fs.caps.write_bytes {
        let message =
            format!("the content has {} bytes, more than the {} allowed", bytes.len(), fs.caps.write_bytes);
        return Err(
            ToolError::new(message).hint("write the first part, then add the rest with mode: \"append\"")
        );
    }
    Ok(bytes)
}

fn check_hash(
    fs: &Filesystem,
    args: &Args,
    (dir, name): (&Dir, &Name),
    existing: Option<&Stat>,
) -> Result<(), ToolError> {
    let Some(expected) = &args.expected_hash else { return Ok(()) };
    let label = dir.label(name);
    if existing.is_none() {
        return Err(ToolError::new(format!("`{label}` does not exist, so it has no hash"))
            .hint("leave out expected_hash to create the file"));
    }
    let read = window::read_all(&dir.open_file(name)?, fs.caps.scan_bytes)
        .map_err(|error| io_failed(error, &label))?;
    let Some(bytes) = read else {
        return Err(ToolError::new(format!("`{label}` is too large to be checked against a hash"))
            .hint("leave out expected_hash"));
    };
    if hash(&bytes).eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    Err(ToolError::new(format!("`{label}` changed: it has another content than expected_hash says"))
        .hint("read the file again, then write with its new sha256"))
}
