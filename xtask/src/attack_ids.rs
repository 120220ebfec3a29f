//! Checks that ids in the names of attack and fault tests are explained in `docs/attacks.md`.

use std::collections::BTreeSet;
use std::fs;

use crate::file_length::sources;
use crate::workspace::Workspace;

#[test]
fn every_attack_id_in_a_test_name_is_explained() {
    let root = Workspace::find().unwrap().root().to_owned();
    let page = fs::read_to_string(root.join("docs/attacks.md")).unwrap();
    let explained: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    let cited: BTreeSet<String> =
        files.iter().flat_map(|file| cited(&fs::read_to_string(file).unwrap())).collect();
    assert!(cited.len() > 100, "only {} ids were found", cited.len());
    let missing: Vec<_> = cited.iter().filter(|id| !explained.contains(id.as_str())).collect();
    assert!(missing.is_empty(), "add a row to docs/attacks.md for {missing:?}");
}

#[test]
fn every_test_that_the_page_names_exists() {
    let root = Workspace::find().unwrap().root().to_owned();
    let page = fs::read_to_string(root.join("docs/attacks.md")).unwrap();
    let table = page.split_once("## Attacks that once succeeded").unwrap().1;
    let named: BTreeSet<&str> = table.split('`').filter(|word| names_id(word).is_some()).collect();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let exists = |name: &str| texts.iter().any(|text| text.contains(&format!("fn {name}()")));
    let missing: Vec<_> = named.iter().filter(|name| !exists(name)).collect();
    assert!(named.len() > 50 && missing.is_empty(), "{} are named, missing: {missing:?}", named.len());
}

#[test]
fn ids_are_read_from_names_of_functions() {
    assert_eq!(cited("fn h08_slow()\nfn other()\nasync fn a12_x()\nfn u8_x()\nfn abc01_x()"), ["H08", "A12"]);
}

/// Returns the ids at the beginning of function names: a letter, two digits and an underscore.
fn cited(source: &str) -> Vec<String> {
    source
        .lines()
        .filter_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("fn "))
        .filter_map(names_id)
        .collect()
}

/// The id at the beginning of a name.
fn names_id(name: &str) -> Option<String> {
    let id = name.get(..4)?.strip_suffix('_')?;
    let (letter, digits) = id.split_at(1);
    let fits = letter.chars().all(|c| c.is_ascii_lowercase()) && digits.chars().all(|c| c.is_ascii_digit());
    fits.then(|| id.to_uppercase())
}
