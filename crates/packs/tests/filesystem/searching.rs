//! Searching by name and by content.

use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Place;

fn project() -> Place {
    let place = Place::new();
    place.write("src/main.rs", "fn main() {\n    needle();\n}\n");
    place.write("src/deep/util.rs", "// Needle\r\nlet x = needle;\r\n");
    place.write("docs/guide.md", "find the needle (here)\n");
    place.write("target/out.rs", "needle");
    place.write("vendor/keep/lib.rs", "needle");
    place.write("vendor/drop/lib.rs", "needle");
    place.write(".gitignore", "/target\nvendor/*\n!vendor/keep\n");
    place.write(".git/HEAD", "needle");
    place.write("image.bin", b"needle\0\x01\x02");
    symlink(&place.outside, place.root.join("out")).unwrap();
    symlink("src", place.root.join("again")).unwrap();
    place
}

fn paths(found: &Value, list: &str) -> Vec<String> {
    found[list].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn files_are_found_by_name_and_by_path() {
    let place = project();
    let find = |arguments: Value| async { paths(&place.ok("search_files", arguments).await, "results") };
    assert_eq!(
        find(json!({"pattern": "*.rs"})).await,
        ["src/deep/util.rs", "src/main.rs", "vendor/keep/lib.rs"]
    );
    assert_eq!(find(json!({"pattern": "src/*.rs"})).await, ["src/main.rs"]);
    assert_eq!(find(json!({"pattern": "**/util.*", "path": "src"})).await, ["src/deep/util.rs"]);
    assert_eq!(find(json!({"pattern": "*.rs", "exclude": ["deep", "vendor"]})).await, ["src/main.rs"]);
    assert_eq!(find(json!({"pattern": "*.rs", "include_ignored": true})).await.len(), 5);
    let cut = place.ok("search_files", json!({"pattern": "*.rs", "max_results": 1})).await;
    assert_eq!((paths(&cut, "results").len(), &cut["truncated"]), (1, &json!(true)));
    assert!(place.err("search_files", json!({"pattern": "[z-a"})).await.contains("not a usable pattern"));
}

#[tokio::test]
async fn rules_above_the_searched_directory_count_too() {
    let place = project();
    let found = place.ok("search_files", json!({"path": "vendor", "pattern": "*.rs"})).await;
    assert_eq!(paths(&found, "results"), ["vendor/keep/lib.rs"]);
}

#[tokio::test]
async fn lines_are_found_by_text_and_by_expression() {
    let place = project();
    let found = place.ok("search_content", json!({"query": "needle"})).await;
    assert_eq!(
        paths(&found, "matches"),
        ["docs/guide.md", "src/deep/util.rs", "src/main.rs", "vendor/keep/lib.rs"]
    );
    assert_eq!((&found["files_matched"], &found["files_passed_over"]), (&json!(4), &json!(1)));
    let line = &found["matches"][1];
    assert_eq!(
        (&line["line"], &line["column"], &line["text"]),
        (&json!(2), &json!(9), &json!("let x = needle;"))
    );
    let literal = place.ok("search_content", json!({"query": "(here)"})).await;
    assert_eq!(paths(&literal, "matches"), ["docs/guide.md"]);
    let regex = place.ok("search_content", json!({"query": "^// N\\w+$", "regex": true})).await;
    assert_eq!(paths(&regex, "matches"), ["src/deep/util.rs"]);
    let folded = place
        .ok(
            "search_content",
            json!({"query": "NEEDLE", "ignore_case": true, "include": ["*.rs"], "path": "src"}),
        )
        .await;
    assert_eq!(folded["matches"].as_array().unwrap().len(), 3);
    let one = place.ok("search_content", json!({"query": "main", "path": "src/main.rs", "context": 1})).await;
    assert_eq!(one["matches"][0]["after"], json!(["    needle();"]));
    let cut = place.ok("search_content", json!({"query": "needle", "max_results": 2})).await;
    assert_eq!((paths(&cut, "matches").len(), &cut["truncated"]), (2, &json!(true)));
    assert!(
        place
            .err("search_content", json!({"query": "(", "regex": true}))
            .await
            .contains("cannot be searched")
    );
}

#[tokio::test]
async fn an_expression_that_ruins_other_engines_is_linear() {
    let place = Place::new();
    place.write("f", format!("{}!", "a".repeat(100_000)));
    let found = place.ok("search_content", json!({"query": "^(a+)+$", "regex": true})).await;
    assert_eq!(found["matches"], json!([]));
    place.err("search_content", json!({"query": "((a{1000}){1000}){1000}", "regex": true})).await;
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match_and_answers_stay_small() {
    let place = Place::new();
    place.write("long", format!("{}needle{}", "x".repeat(10_000), "y".repeat(10_000)));
    let found = place.ok("search_content", json!({"query": "needle"})).await;
    let text = found["matches"][0]["text"].as_str().unwrap();
    assert!(text.contains("needle") && text.chars().count() < 250, "{text}");
    assert_eq!(found["matches"][0]["column"], 10_001);
    place.write("many", format!("{}\n", "needle ".repeat(100)).repeat(2000));
    let found =
        place.ok("search_content", json!({"query": "needle", "max_results": 500, "context": 10})).await;
    assert!(found.to_string().len() < 100_000);
    assert_eq!(found["truncated"], true);
}

#[tokio::test]
async fn a_search_without_time_answers_what_it_has() {
    let place = Place::with(|options| options.caps.time = Duration::ZERO);
    place.write("f", "needle");
    let found = place.ok("search_files", json!({"pattern": "*"})).await;
    assert_eq!((&found["results"], &found["truncated"]), (&json!([]), &json!(true)));
}
