//! Checks the length of source files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;

const MOST_LINES: usize = 500;
/// A file that starts with this line is a table of facts, which has no limit.
const TABLE: &str = "// table";

#[test]
fn no_source_file_is_too_long() {
    let root = Workspace::find().unwrap().root().to_owned();
    let mut files = Vec::new();
    sources(&root.join("xtask/src"), &mut files);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        for part in ["src", "tests"].map(|part| folder.join(part)) {
            if part.is_dir() {
                sources(&part, &mut files);
            }
        }
    }
    assert!(files.len() > 10, "only {} source files were found", files.len());
    let too_long: Vec<_> =
        files.iter().filter(|file| is_too_long(&fs::read_to_string(file).unwrap())).collect();
    assert!(too_long.is_empty(), "longer than {MOST_LINES} lines: {too_long:#?}");
}

#[test]
fn only_tables_may_be_long() {
    let long = "//\n".repeat(MOST_LINES + 1);
    assert!(is_too_long(&long));
    assert!(!is_too_long(&long[3..]));
    assert!(!is_too_long(&format!("{TABLE}\n{long}")));
}

fn is_too_long(source: &str) -> bool {
    source.lines().count() > MOST_LINES && source.lines().next().map(str::trim_end) != Some(TABLE)
}

pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}
