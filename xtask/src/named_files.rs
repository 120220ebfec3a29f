//! Checks that the files named on the architecture page exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::workspace::Workspace;

const PAGE: &str = "docs/ARCHITECTURE.md";

#[test]
fn every_file_named_in_the_architecture_page_exists() {
    let root = Workspace::find().unwrap().root().to_owned();
    let page = fs::read_to_string(root.join(PAGE)).unwrap();
    let named = named(&page);
    assert!(named.len() > 20, "only {} files were found", named.len());
    let missing: Vec<_> = named.iter().filter(|file| !exists(&root, file)).collect();
    assert!(missing.is_empty(), "{PAGE} names files that do not exist: {missing:#?}");
}

#[test]
fn paths_are_read_from_prose_tables_and_pictures() {
    let page = "see `a/src/b.rs`, docs/c.md.\n  hop[\"1 x<br/>d/mod.rs\"] | `e.rs` | https://f.org/g.md";
    assert_eq!(named(page).into_iter().collect::<Vec<_>>(), ["a/src/b.rs", "d/mod.rs", "docs/c.md"]);
}

/// Returns the paths of Rust files and pages; a bare file name is not a path.
fn named(page: &str) -> BTreeSet<&str> {
    let words = page.split(|c: char| !(c.is_ascii_alphanumeric() || "_-/.:".contains(c)));
    words
        .map(|word| word.trim_end_matches(['.', ':']).trim_start_matches('/'))
        .filter(|word| word.contains('/') && matches!(word.rsplit_once('.'), Some((_, "rs" | "md"))))
        .filter(|word| !word.contains("://"))
        .collect()
}

fn exists(root: &Path, file: &str) -> bool {
    root.join(file).is_file() || root.join("crates").join(file).is_file()
}
