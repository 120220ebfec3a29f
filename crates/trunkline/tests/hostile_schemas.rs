//! Commands that use the schemas of a hostile server.

#[expect(dead_code, reason = "it serves another target, too")]
mod support;

use std::path::PathBuf;
use support::{Run, trunkline};

fn hostile(args: &[&str], stdin: &str) -> Run {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "hostile_schemas.py"].iter().collect();
    Run::of(trunkline(&[]).args(args).args(["--", "python3"]).arg(script), stdin)
}

#[test]
fn j13_a_call_is_sent_unchecked_with_a_warning_where_its_schema_unfolds() {
    for (tool, why) in [("wide", "visits to subschemas"), ("tall", "in a chain")] {
        for argument in ["a=1", "a:=1"] {
            let run = hostile(&["call", tool, argument], "");
            assert_eq!(run.code, 0, "{run}");
            assert!(run.stdout.contains(&format!("{tool} was called")), "{run}");
            assert!(run.stderr.contains("not checked") && run.stderr.contains(why), "{run}");
        }
    }
}

#[test]
fn j13_a_call_is_sent_unchecked_with_a_warning_where_its_arguments_unfold() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(60), "}".repeat(60));
    let long = format!(r#"{{"a":"{}"}}"#, "ab".repeat(50_000));
    for (tool, arguments) in [("deep", deep), ("text", long)] {
        let run = hostile(&["call", tool, "@-"], &arguments);
        assert_eq!(run.code, 0, "{run}");
        assert!(run.stderr.contains("too many steps"), "{run}");
    }
}

#[test]
fn j13_tools_are_listed() {
    let run = hostile(&["list", "tools"], "");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("honest") && run.stdout.contains("wide"), "{run}");
}

#[test]
fn j13_lint_ends_and_names_the_tools() {
    let run = hostile(&["lint", "--group", "tools", "--active", "--fail-on", "never"], "");
    assert_eq!(run.code, 0, "{run}");
    for tool in ["wide", "tall", "output"] {
        assert!(run.stdout.contains(&format!("tool {tool}: ")), "{tool}: {run}");
    }
    assert!(run.stdout.contains("schema-cost"), "{run}");
}
