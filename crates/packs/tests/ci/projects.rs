//! Real projects, built and tested by real tools.

use std::{
    os::unix::fs::PermissionsExt,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::bench::{Bench, Said};

const CARGO: [(&str, &str); 2] = [
    ("Cargo.toml", "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n"),
    (
        "src/lib.rs",
        "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 1), 2);\n    }\n\n    #[test]\n    fn breaks() {\n        assert_eq!(super::add(1, 2), 4, \"not four\");\n    }\n}\n",
    ),
];

/// Waits until the job has ended.
async fn ended(bench: &Bench, mut said: Said) -> Value {
    while said.data["state"] == "running" {
        said = bench.call("job_status", json!({"jobId": said.data["jobId"], "waitSeconds": 25})).await;
    }
    assert!(!said.is_error, "{}", said.text);
    said.data
}

async fn run(bench: &Bench, tool: &str, arguments: Value) -> Value {
    let said = bench.call(tool, arguments).await;
    assert!(!said.is_error, "{}", said.text);
    ended(bench, said).await
}

#[tokio::test]
async fn a_cargo_project_is_built_and_tested() {
    let bench = Bench::new(&CARGO);
    let tested = run(&bench, "run_tests", json!({})).await;
    assert_eq!(
        (&tested["success"], &tested["exitCode"], &tested["kind"]),
        (&json!(false), &json!(101), &json!("cargo")),
        "{tested}"
    );
    assert_eq!(tested["tests"], json!({"passed": 1, "failed": 1, "skipped": 0}));
    let failure = &tested["failures"][0];
    assert_eq!(
        (&failure["name"], &failure["file"], &failure["line"]),
        (&json!("tests::breaks"), &json!("src/lib.rs"), &json!(14))
    );
    assert!(
        failure["message"]
            .as_str()
            .is_some_and(|message| message.contains("not four") && message.contains("left: 3"))
    );

    let filtered = run(&bench, "run_tests", json!({"projectPath": "Cargo.toml", "filter": "adds"})).await;
    assert_eq!((&filtered["success"], &filtered["tests"]["passed"]), (&json!(true), &json!(1)), "{filtered}");

    std::fs::write(
        bench.root.path().join("src/lib.rs"),
        "pub fn add() -> i32 {\n    let unused = 1;\n    \"text\"\n}\n",
    )
    .expect("a file");
    let built = run(&bench, "build", json!({})).await;
    assert_eq!((&built["success"], &built["errors"]), (&json!(false), &json!(1)), "{built}");
    let error = &built["diagnostics"][0];
    assert_eq!(
        (&error["severity"], &error["code"], &error["file"], &error["line"]),
        (&json!("error"), &json!("E0308"), &json!("src/lib.rs"), &json!(3))
    );
    assert!(
        built["logTail"]
            .as_str()
            .is_some_and(|log| log.contains("mismatched types") && !log.contains("\"reason\""))
    );
}

#[tokio::test]
async fn a_broken_cargo_manifest_is_told() {
    let bench = Bench::new(&[("Cargo.toml", "[package]\nname = \"x\"\nversion = 3\n")]);
    let built = run(&bench, "build", json!({})).await;
    assert_eq!((&built["success"], &built["errors"]), (&json!(false), &json!(1)), "{built}");
}

#[tokio::test]
async fn an_npm_project_is_tested_and_says_what_it_lacks() {
    let test = "const test = require('node:test');\nconst assert = require('node:assert');\ntest('adds', () => assert.equal(1 + 1, 2));\ntest('breaks', () => {\n  assert.equal(1 + 2, 4);\n});\n";
    let package = r#"{"name": "sums", "version": "1.0.0", "scripts": {"test": "node --test"}}"#;
    let bench = Bench::new(&[("package.json", package), ("sum.test.js", test)]);
    let tested = run(&bench, "run_tests", json!({"projectPath": "."})).await;
    assert_eq!(tested["tests"], json!({"passed": 1, "failed": 1, "skipped": 0}), "{tested}");
    let failure = &tested["failures"][0];
    assert_eq!((&failure["name"], &failure["line"]), (&json!("breaks"), &json!(5)));
    assert!(failure["file"].as_str().is_some_and(|file| file.ends_with("sum.test.js")));

    let built = bench.call("build", json!({})).await;
    assert!(
        built.is_error && built.text.contains("no script \"build\"") && built.text.contains("npm run test"),
        "{}",
        built.text
    );
}

#[tokio::test]
async fn a_python_project_is_compiled_and_tested_with_unittest() {
    let test = "import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 1, 2)\n\n    def test_breaks(self):\n        self.assertEqual(1 + 2, 4)\n";
    let bench = Bench::new(&[("setup.cfg", ""), ("test_sums.py", test)]);
    let tested = run(&bench, "run_tests", json!({})).await;
    assert_eq!(tested["tests"], json!({"passed": 1, "failed": 1, "skipped": 0}), "{tested}");
    let failure = &tested["failures"][0];
    assert_eq!((&failure["line"], &failure["message"]), (&json!(9), &json!("AssertionError: 3 != 4")));

    std::fs::write(bench.root.path().join("bad.py"), "def f(:\n").expect("a file");
    let built = run(&bench, "build", json!({})).await;
    assert_eq!((&built["success"], &built["diagnostics"][0]["line"]), (&json!(false), &json!(1)), "{built}");
    let lint = bench.call("lint", json!({})).await;
    assert!(lint.is_error && lint.text.contains("ruff"), "{}", lint.text);
    let restore = bench.call("restore", json!({})).await;
    assert!(restore.is_error && restore.text.contains("virtual environment"), "{}", restore.text);
}

#[tokio::test]
async fn a_makefile_is_run_and_its_tests_understood() {
    let makefile = "all:\n\t@echo 'main.c:3:5: error: expected x' >&2; exit 1\ntest:\n\t@echo 1..2; echo ok 1 - adds; echo not ok 2 - breaks; exit 1\n";
    let bench = Bench::new(&[("Makefile", makefile)]);
    let built = run(&bench, "build", json!({})).await;
    let first = &built["diagnostics"][0];
    assert_eq!(
        (&built["exitCode"], &first["file"], &first["line"], &first["column"]),
        (&json!(2), &json!("main.c"), &json!(3), &json!(5)),
        "{built}"
    );
    let tested = run(&bench, "run_tests", json!({})).await;
    assert_eq!(
        (&tested["tests"]["failed"], &tested["failures"][0]["name"]),
        (&json!(1), &json!("breaks")),
        "{tested}"
    );
    let lint = bench.call("lint", json!({})).await;
    assert!(lint.is_error && lint.text.contains("all, test"), "{}", lint.text);
}

#[tokio::test]
async fn projects_are_found_and_their_commands_shown() {
    let bench = Bench::new(&[
        ("Cargo.toml", "[package]"),
        ("Makefile", "all:\n"),
        ("web/package.json", r#"{"packageManager": "pnpm@9.0.0", "scripts": {"build": "vite build"}}"#),
        ("tools/go.mod", "module x\n"),
        ("svc/App.csproj", "<Project/>"),
        ("svc/App.sln", ""),
        ("java/pom.xml", "<project/>"),
        ("kotlin/build.gradle.kts", ""),
        ("py/pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("node_modules/dep/package.json", "{}"),
        (".hidden/go.mod", ""),
    ]);
    let said = bench.call("detect_project", json!({})).await;
    let found: Vec<_> = said.data["projects"]
        .as_array()
        .expect("projects")
        .iter()
        .map(|p| (p["kind"].as_str().unwrap(), p["path"].as_str().unwrap(), p["manifest"].as_str().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("cargo", ".", "Cargo.toml"),
            ("make", ".", "Makefile"),
            ("maven", "java", "pom.xml"),
            ("gradle", "kotlin", "build.gradle.kts"),
            ("python", "py", "pyproject.toml"),
            ("dotnet", "svc", "App.sln"),
            ("go", "tools", "go.mod"),
            ("pnpm", "web", "package.json"),
        ]
    );
    assert!(said.text.contains("build: pnpm run build"), "{}", said.text);
    assert!(said.text.contains("-m pytest -q"), "{}", said.text);
    assert!(said.text.contains("dotnet test ./App.sln"), "{}", said.text);
}

#[tokio::test]
async fn a_kind_can_be_chosen_and_a_filter_is_only_a_name() {
    let bench = Bench::new(&[("Cargo.toml", "[package]"), ("Makefile", "all:\n\t@echo made\n")]);
    let built = run(&bench, "build", json!({"kind": "make"})).await;
    assert!(built["logTail"].as_str().is_some_and(|log| log.contains("made")), "{built}");
    let missing = bench.call("build", json!({"kind": "go"})).await;
    assert!(missing.is_error && missing.text.contains("detect_project"), "{}", missing.text);
    for filter in ["--nocapture", "a; id", "$(id)", "-Zunstable", ""] {
        let said = bench.call("run_tests", json!({"filter": filter})).await;
        assert!(said.is_error, "{filter}: {}", said.text);
    }
}

/// A substitute for pytest, which may not be installed: it writes a report to the given path.
const PYTEST: &str = "import sys\nat = [a.split('=', 1)[1] for a in sys.argv if a.startswith('--junit-xml=')][0]\nopen(at, 'w').write('<testsuite><testcase classname=\"test_a\" name=\"test_b\"><failure message=\"assert 3 == 4\">x\\n\\ntest_a.py:7: AssertionError</failure></testcase></testsuite>')\nsys.exit(1)\n";

#[tokio::test]
async fn reports_are_read_from_where_they_were_ordered() {
    let bench = Bench::new(&[("pytest.ini", ""), ("pytest/__main__.py", PYTEST)]);
    let tested = run(&bench, "run_tests", json!({})).await;
    let failure = &tested["failures"][0];
    assert_eq!(
        (&tested["tests"]["failed"], &failure["file"], &failure["line"]),
        (&json!(1), &json!("test_a.py"), &json!(7)),
        "{tested}"
    );
}

#[tokio::test]
async fn a_wrapper_of_the_project_is_used_and_only_fresh_reports_count() {
    let old = "<testsuite><testcase name=\"old\"><failure/></testcase></testsuite>";
    let wrapper = "#!/bin/sh\nmkdir -p target/surefire-reports\necho '<testsuite><testcase classname=\"SumTest\" name=\"adds\"/></testsuite>' > target/surefire-reports/new.xml\n";
    let bench =
        Bench::new(&[("pom.xml", "<project/>"), ("mvnw", wrapper), ("target/surefire-reports/old.xml", old)]);
    let root = bench.root.path();
    std::fs::set_permissions(root.join("mvnw"), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let stale = std::fs::File::options()
        .write(true)
        .open(root.join("target/surefire-reports/old.xml"))
        .expect("a file");
    stale.set_modified(SystemTime::now() - Duration::from_mins(1)).expect("a time");
    let tested = run(&bench, "run_tests", json!({})).await;
    assert_eq!(
        (&tested["success"], &tested["tests"]),
        (&json!(true), &json!({"passed": 1, "failed": 0, "skipped": 0})),
        "{tested}"
    );
    assert!(tested["command"].as_str().is_some_and(|line| line.starts_with("./mvnw ")), "{tested}");
}
