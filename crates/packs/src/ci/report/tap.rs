//! The Test Anything Protocol, with the YAML blocks that `node:test` and others write below a
//! failure.

use super::{
    location::{self, SourceLocation},
    types::{Report, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = Report::default();
    let mut seen = TestCounts::default();
    let mut reported = TestCounts::default();
    let mut is_tap = false;
    for (at, line) in lines.iter().enumerate() {
        let test = line.trim_start();
        is_tap |= test.starts_with("TAP version") || is_plan(line);
        if let Some(summary) = line.strip_prefix("# ") {
            summarize(summary, &mut reported);
        } else if let Some(rest) = result(test, "not ok ") {
            let block = block(&lines[at + 1..]);
            if rest.to_ascii_uppercase().contains("# TODO") || rest.to_ascii_uppercase().contains("# SKIP") {
                seen.skipped += 1;
            } else if value(&block, "failureType").as_deref() != Some("subtestsFailed") {
                seen.failed += 1;
                report.fail(|| failure(rest, &block));
            }
        } else if let Some(rest) = result(test, "ok ") {
            // A test with subtests is not counted in addition to them.
            if rest.to_ascii_uppercase().contains("# SKIP") {
                seen.skipped += 1;
            } else {
                seen.passed += 1;
            }
        }
    }
    if !is_tap {
        return Report::default();
    }
    report.tests = Some(if reported.total() > 0 { reported } else { seen });
    report
}

/// `1..5`
fn is_plan(line: &str) -> bool {
    line.trim().split_once("..").is_some_and(|(from, to)| {
        from == "1" && to.split(' ').next().is_some_and(|to| to.parse::<u64>().is_ok())
    })
}

/// The text after `ok 3 - `.
fn result<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    Some(rest.strip_prefix("- ").unwrap_or(rest))
}

/// `pass 3`, after the tests.
fn summarize(summary: &str, reported: &mut TestCounts) {
    let Some((word, number)) = summary.split_once(' ') else { return };
    let Some(number) = count(number.trim()) else { return };
    match word {
        "pass" => reported.passed = number,
        "fail" | "cancelled" => reported.failed += number,
        "skipped" | "skip" | "todo" => reported.skipped += number,
        _ => {}
    }
}

/// The lines between `---` and `...`, without their common indentation.
fn block<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let Some(first) = lines.first().filter(|line| line.trim() == "---") else { return Vec::new() };
    let indent = first.len() - first.trim_start().len();
    let inner = lines[1..].iter().take_while(|line| line.trim() != "..." || line.len() - 3 != indent);
    inner.take(200).map(|line| line.get(indent..).unwrap_or("")).collect()
}

/// The value of a key of the block: on its line, or below it with more indentation.
fn value(block: &[&str], key: &str) -> Option<String> {
    let at =
        block.iter().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))?;
    let inline = block[at][key.len() + 1..].trim();
    if !inline.starts_with(['|', '>']) {
        let unquoted = inline.trim_matches(['\'', '"']).replace("''", "'");
        return Some(unquoted.replace("\\n", "\n"));
    }
    let below = block[at + 1..].iter().take_while(|line| line.starts_with("  ") || line.is_empty());
    Some(below.map(|line| line.trim_start_matches("  ")).collect::<Vec<_>>().join("\n"))
}

fn failure(name: &str, block: &[&str]) -> TestFailure {
    let stack = value(block, "stack").and_then(|stack| location::in_stack(&stack));
    let location =
        value(block, "location").or_else(|| value(block, "at")).and_then(|text| location::exact(&text));
    let place: Option<SourceLocation> = stack.filter(|place| !place.file.starts_with("node:")).or(location);
    let message = value(block, "error").or_else(|| value(block, "message")).unwrap_or_default();
    TestFailure {
        name: name.to_owned(),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message,
    }
}
