//! Settings: JSON with comments is parsed with correct values and positions, and any file gives
//! either settings or a list of problems with positions in it.

use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::PathBuf,
    sync::LazyLock,
};
use tempfile::TempDir;
use trunkline_config::{
    Inputs, NoKeychain, Problem, Sources,
    jsonc::{self, Node, Value},
    load,
};

/// Temporary folder of this process.
static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a directory can be made"));

pub fn holds(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let tree = jsonc::parse(text, 0);
    match &tree {
        Ok(tree) => knows_its_places(tree, text),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(text.get(error.place.range()).is_some(), "{error} at {:?}", error.place);
            }
            agrees_that_it_is_none(text);
        }
    }
    if let (Ok(tree), Ok(strict)) = (&tree, serde_json::from_str::<Json>(text)) {
        assert_eq!(tree.to_json(), strict);
    }
    loads(text, tree.is_ok());
}

/// Checks that the text at the position of a value is that value.
fn knows_its_places(node: &Node, text: &str) {
    let own = text.get(node.place.range()).expect("a position is within its text");
    let again = jsonc::parse(own, 0).expect("a part is a document by itself");
    assert_eq!(again.to_json(), node.to_json());
    let mut seen = HashSet::new();
    for entry in node.entries() {
        let key = text.get(entry.key_place.range()).expect("a position is within its text");
        assert_eq!(jsonc::parse(key, 0).expect("a name is a text").text(), Some(entry.key.as_str()));
        assert!(seen.insert(&entry.key), "a duplicate name");
        knows_its_scalar(&entry.node, text);
    }
    node.items().iter().for_each(|item| knows_its_scalar(item, text));
}

/// Checks only scalars by parsing, which avoids parsing every level again.
fn knows_its_scalar(node: &Node, text: &str) {
    if matches!(node.value, Value::List(_) | Value::Table(_)) {
        assert!(matches!(text.as_bytes()[node.place.range().start], b'{' | b'['));
        assert!(matches!(text.as_bytes()[node.place.range().end - 1], b'}' | b']'));
        node.entries().iter().for_each(|entry| knows_its_scalar(&entry.node, text));
        node.items().iter().for_each(|item| knows_its_scalar(item, text));
    } else {
        let own = text.get(node.place.range()).expect("a position is within its text");
        assert_eq!(jsonc::parse(own, 0).expect("a value is a document").to_json(), node.to_json());
    }
}

/// Checks that a rejected text is not JSON, is nested too deep, or has a duplicate key.
fn agrees_that_it_is_none(text: &str) {
    let Ok(strict) = serde_json::from_str::<Json>(text) else { return };
    let written = serde_json::to_string(&strict).expect("JSON can be written");
    let twice = members(text) != members(&written);
    assert!(twice || text.matches(['[', '{']).count() > jsonc::MAX_DEPTH, "rejected, though it is JSON");
}

/// Returns the number of colons outside strings, which is the number of members.
fn members(text: &str) -> usize {
    let (mut count, mut in_text, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b':' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Loads the text as a project's configuration file.
fn loads(text: &str, is_sound: bool) {
    let file = DIRECTORY.path().join("trunkline.jsonc");
    fs::write(&file, text).expect("a file can be written");
    let inputs = Inputs {
        directory: DIRECTORY.path().to_owned(),
        file: Some(file.clone()),
        approvals: None,
        user_directory: None,
        home: Some(PathBuf::from("/nowhere")),
        variables: BTreeMap::from([
            ("SET".to_owned(), "value".to_owned()),
            ("EMPTY".to_owned(), String::new()),
        ]),
        flags: Vec::new(),
        secrets: &NoKeychain,
    };
    match load(&inputs) {
        Ok(loaded) => {
            assert!(is_sound);
            assert!(!loaded.warnings.iter().any(Problem::is_error));
            assert_eq!(loaded.read, [file]);
            are_in_the_text(&loaded.warnings, &loaded.layered.sources, text);
            assert!(loaded.settings.servers.keys().all(|name| loaded.origins.contains_key(name)));
        }
        Err(rejected) => {
            assert!(rejected.problems.iter().any(Problem::is_error));
            are_in_the_text(&rejected.problems, &rejected.sources, text);
        }
    }
}

fn are_in_the_text(problems: &[Problem], sources: &Sources, text: &str) {
    let lines = text.split('\n').count();
    for problem in problems.iter().filter(|problem| problem.line > 0) {
        assert!(problem.line as usize <= lines, "{problem:?}");
        assert!(problem.column > 0 && problem.length > 0, "{problem:?}");
        // `line` returns `None` for a line that is too long.
        assert!(!sources.line(problem).is_some_and(|line| line.contains('\n')));
    }
}
