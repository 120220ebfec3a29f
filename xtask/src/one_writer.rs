//! K03: lists the files that use standard output or standard error. Texts for people are written
//! by one module, which escapes what a terminal would obey.

use std::collections::BTreeSet;
use std::fs;

use crate::file_length::sources;
use crate::workspace::Workspace;

/// Files that use the streams, and the purpose.
const USERS: [(&str, &str); 6] = [
    ("testkit/src/script/relay.rs", "a scripted server of tests"),
    ("transport/src/stdio/standard.rs", "frames for a client"),
    ("trunkline/src/containment.rs", "the output of the process that converts a document"),
    ("trunkline/src/output.rs", "checks that there is a reader"),
    ("trunkline/src/terminal/drawing.rs", "draws the progress bar"),
    ("trunkline/src/terminal/writer.rs", "the writer"),
];

/// Ways to reach the streams. `println!` and its kin are refused by clippy.
const STREAMS: [&str; 4] = ["io::stdout()", "io::stderr()", "/dev/stdout", "/dev/stderr"];

#[test]
fn k03_only_the_writer_writes_to_the_terminal() {
    let crates = Workspace::find().unwrap().root().join("crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    files.retain(|path| !path.components().any(|part| part.as_os_str() == "bin"));
    let uses = |path: &&std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        STREAMS.iter().any(|stream| text.contains(stream))
    };
    let found: BTreeSet<String> = files
        .iter()
        .filter(uses)
        .map(|path| path.strip_prefix(&crates).unwrap().display().to_string())
        .collect();
    let known: BTreeSet<String> = USERS.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(found, known, "print through `terminal::Screen`, or say what the stream is for");
}
