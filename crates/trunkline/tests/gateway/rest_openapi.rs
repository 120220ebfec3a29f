//! The document at `/openapi.json` is true: schemathesis makes requests from it, valid and invalid
//! ones, and compares the answers with it.

use crate::{
    installed,
    rest::{Rest, body_of},
    site::{Site, rounds},
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf, process::Command};

/// Checks that hold for every tool. Left out are those that expect a tool to accept every value
/// that its schema allows, such as a file name that does not exist, and no other, although our
/// tools take `null` for an argument that is not given.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,unsupported_method";

fn packs(site: &Site) -> Value {
    let root = site.path("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a.txt"), "hello\n").unwrap();
    for words in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(words).current_dir(&root);
        assert!(site.prepare(git).current_dir(&root).status().unwrap().success(), "{words:?}");
    }
    json!({
        "files": {"type": "builtin", "pack": "filesystem", "root": root},
        "git": {"type": "builtin", "pack": "git", "root": root},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_schemathesis_finds_no_failure_and_no_undocumented_answer() {
    let site = Site::of("schemathesis", packs);
    let mut door = site.open();
    let hooks: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "gateway", "schemathesis_hooks.py"].iter().collect();
    let mut run = site.prepare(Command::new(installed::installed("rest/bin/schemathesis")));
    run.arg("run").arg(format!("http://{}/openapi.json", door.address)).args(["--checks", CHECKS]);
    run.args(["--phases", "examples,coverage,fuzzing,stateful", "--no-color", "--seed", "17", "--no-shrink"]);
    run.args(["--max-examples", &rounds(3, 200).to_string()]).env("SCHEMATHESIS_HOOKS", hooks);
    let output = tokio::task::spawn_blocking(move || run.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("unresolvable reference"), "{said}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h2_references_in_schemas_point_to_their_places() {
    let site = Site::of("references", packs);
    let mut door = site.open();
    let document = body_of(&Rest::at(&door, None).await.get("/openapi.json").await);
    let mut seen = 0;
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(target) = members.get("$ref").and_then(Value::as_str) {
                    let pointer = target.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{target}");
                    seen += usize::from(pointer.starts_with("/paths/"));
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    assert!(seen > 0, "some tool of ours has a schema with references");
    door.stop().await;
}
