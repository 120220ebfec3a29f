//! The tool definitions that a client sees.

use serde_json::Value;
use trunkline_packs::filesystem::{self, Access, FilesystemOptions};
use trunkline_toolbox::Tool;

const READERS: [&str; 11] = [
    "read_file",
    "read_multiple_files",
    "read_media_file",
    "list_directory",
    "directory_tree",
    "search_files",
    "search_content",
    "get_file_info",
    "file_exists",
    "directory_exists",
    "list_allowed_directories",
];
const WRITERS: [&str; 6] =
    ["write_file", "edit_file", "create_directory", "copy_file", "move_file", "delete_file"];

fn pack(access: Access) -> Vec<Tool> {
    let dir = tempfile::tempdir().unwrap();
    let options =
        FilesystemOptions { roots: vec![dir.path().to_owned()], access, ..FilesystemOptions::default() };
    filesystem::pack(options).unwrap()
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(Tool::name).collect()
}

#[test]
fn tools_that_change_files_are_offered_only_when_asked_for() {
    assert_eq!(FilesystemOptions::default().access, Access::ReadOnly);
    assert_eq!(names(&pack(Access::ReadOnly)), READERS);
    assert_eq!(names(&pack(Access::ReadWrite)), [&READERS[..], &WRITERS[..]].concat());
}

#[test]
fn every_tool_has_title_description_schemas_and_four_hints() {
    for tool in pack(Access::ReadWrite) {
        let shown = serde_json::to_value(tool.definition()).unwrap();
        let name = tool.name();
        assert!(shown["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
        assert!(shown["description"].as_str().is_some_and(|text| (80..2048).contains(&text.len())), "{name}");
        assert_eq!(shown["outputSchema"]["type"], "object", "{name}");
        assert_eq!(shown["inputSchema"]["additionalProperties"], false, "{name}");
        let hints = &shown["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{name} {hint}");
        }
        assert_eq!(hints["readOnlyHint"], READERS.contains(&name), "{name}");
        assert_eq!(hints["openWorldHint"], false, "{name}");
        let plain = shown["inputSchema"].to_string();
        assert!(!plain.contains("anyOf") && !plain.contains("\"null\""), "{name}: {plain}");
    }
}

#[test]
fn the_names_of_the_seed_take_its_arguments() {
    let tools = pack(Access::ReadWrite);
    let seed: [(&str, &[&str]); 7] = [
        ("read_file", &["path"]),
        ("write_file", &["path", "content"]),
        ("list_directory", &["path"]),
        ("delete_file", &["path"]),
        ("create_directory", &["path"]),
        ("file_exists", &["path"]),
        ("directory_exists", &["path"]),
    ];
    for (name, arguments) in seed {
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        let schema = serde_json::to_value(tool.definition()).unwrap()["inputSchema"].clone();
        let required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(required, arguments, "{name}");
    }
}

#[test]
fn a_root_that_is_missing_or_a_file_is_refused_at_start() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    for path in ["missing", "file"] {
        let options =
            FilesystemOptions { roots: vec![dir.path().join(path)], ..FilesystemOptions::default() };
        assert!(filesystem::pack(options).is_err(), "{path}");
    }
}
