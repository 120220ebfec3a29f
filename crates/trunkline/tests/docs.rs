//! Every configuration in the documentation is valid as printed.

#[expect(dead_code, reason = "only a part of the shared support is used here")]
mod support;

use serde_json::Value;
use std::{fs, path::Path};
use support::{Run, trunkline};

/// The fenced blocks of a page in one language, each with the last non-empty line before it.
fn blocks(page: &str, languages: &[&str]) -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page))
        .expect("the page is there");
    let (mut found, mut before) = (Vec::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some(language) => {
                let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                if languages.contains(&language) {
                    found.push((before.clone(), block.join("\n")));
                }
            }
            None if !line.is_empty() => line.clone_into(&mut before),
            None => {}
        }
    }
    found
}

#[test]
fn every_example_configuration_passes_the_check() {
    let mut examples = blocks("examples.md", &["jsonc"]);
    assert!(examples.len() >= 5, "only {} examples were found", examples.len());
    let policies = blocks("policy.md", &["jsonc"]);
    assert!(policies.len() >= 2, "only {} policies were found", policies.len());
    examples.extend(policies);
    for (about, example) in examples {
        let home = tempfile::tempdir().expect("a temporary folder");
        let file = home.path().join("trunkline.json");
        let variables =
            [("DOCS_TOKEN", "0123456789abcdef0123"), ("REPORTS_DSN", "postgresql://localhost/reports")];
        // Paths below /etc and ~ are replaced by paths in the test's home directory.
        let placed = example.replace("/etc/trunkline", &home.path().join("etc").display().to_string());
        fs::write(&file, placed).expect("the test can write its files");
        for (name, text) in [
            ("etc/tracker-token", "0123456789abcdef0123"),
            ("etc/keys.json", r#"{"keys": []}"#),
            ("project/README.md", ""),
        ] {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("the test can write its files");
            fs::write(path, text).expect("the test can write its files");
        }
        let mut command = trunkline(&variables);
        command.args(["config", "check"]).arg(&file).env("HOME", home.path());
        let run = Run::of(command.current_dir(home.path()), "");
        let errors: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("error")).collect();
        assert!(run.code == 0 && errors.is_empty(), "{about}\n{example}\n{run}");
    }
}

#[test]
fn the_first_project_is_compiled_and_serves_over_stdio_and_http() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = fs::read_to_string(workspace.join("crates/trunkline/examples/calculator.rs"))
        .expect("the example is there");
    let shown = blocks("writing-tools.md", &["rust,ignore"]);
    assert!(
        shown.iter().any(|(_, code)| source.trim_end().ends_with(code)),
        "the page shows another program"
    );
    // Cargo compiles it with the tests of this package.
    let program = Path::new(env!("CARGO_BIN_EXE_trunkline")).with_file_name("examples/calculator");
    assert!(program.exists(), "cargo build -p trunkline --example calculator");
    let sum = |target: &str| {
        let run = Run::of(trunkline(&[]).args(["call", target, "add", "a=2", "b=3"]), "");
        assert!(run.code == 0 && run.stdout.contains("sum: 5"), "{run}");
    };
    sum(&program.display().to_string());
    let mut server = std::process::Command::new(&program)
        .arg("127.0.0.1:0")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut address = String::new();
    let output = server.stdout.take().expect("it was asked for");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut address).expect("it is readable");
    sum(address.trim());
    server.kill().expect("it runs");
    server.wait().expect("it ends");
}

#[test]
fn the_dependencies_of_the_first_project_are_those_of_this_workspace() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (_, manifest) = blocks("writing-tools.md", &["toml"]).into_iter().next().expect("it is there");
    let ours = fs::read_to_string(workspace.join("Cargo.toml")).expect("it is readable");
    for line in manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1) {
        let (name, rest) = line.split_once(" = ").expect("a dependency");
        match rest.split("../trunkline/").nth(1) {
            Some(path) => {
                let path = path.trim_end_matches("\" }");
                let own = fs::read_to_string(workspace.join(path).join("Cargo.toml")).expect("it is there");
                assert!(own.contains(&format!("name = \"{name}\"")), "{line}");
            }
            None => assert!(ours.lines().any(|ours| ours.starts_with(&format!("{name} = "))), "{line}"),
        }
    }
}

#[test]
fn every_client_of_the_quick_start_reads_the_file_that_it_shows() {
    let files = blocks("quick-start.md", &["json", "toml"]);
    assert!(files.len() >= 6, "only {} files were found", files.len());
    for (about, text) in files {
        let words: Vec<&str> = about.split(' ').collect();
        let ["<!--", "client:", client, path, "-->"] = words[..] else {
            panic!("no client and path before {text}");
        };
        let home = tempfile::tempdir().expect("a temporary folder");
        let file = home.path().join(path);
        fs::create_dir_all(file.parent().expect("it has one")).expect("the test can write its files");
        fs::write(&file, &text).expect("the test can write its files");
        let mut command = trunkline(&[]);
        command.args(["config", "import", client, "--json"]).env("HOME", home.path());
        let run = Run::of(command.current_dir(home.path()), "");
        let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{client}: {run}"));
        assert!(found.to_string().contains("\"trunkline\""), "{client} does not find it: {found:#}");
    }
}
