//! Text diagnostics of compilers and linters: gcc, clang, javac, kotlinc, go, tsc, msbuild, maven,
//! ruff, flake8, make.

use super::{
    location::{SourceLocation, leading},
    types::{Diagnostic, Severity},
};

/// Treatment of a line with a location but without a severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmarked {
    /// An error.
    Error,
    /// Not a diagnostic.
    Skip,
}

/// The diagnostics in `text`.
pub(super) fn diagnostics(text: &str, unmarked: Unmarked) -> Vec<Diagnostic> {
    text.lines().filter_map(|line| diagnostic(line.trim_end(), unmarked)).collect()
}

fn diagnostic(line: &str, unmarked: Unmarked) -> Option<Diagnostic> {
    if let Some((_, rest)) = line.split_once("*** [") {
        return make(rest);
    }
    let line = line.trim_start();
    maven(line)
        .or_else(|| kotlin(line))
        .or_else(|| in_parentheses(line))
        .or_else(|| after_colons(line, unmarked))
}

/// `path:3:5: error: message`, `path:3:5 - error TS1: message`, `path:3:5: F401 message`.
fn after_colons(line: &str, unmarked: Unmarked) -> Option<Diagnostic> {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    let (place, rest) = leading(line)?;
    let rest = rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(':'))?.trim_start();
    let Some((severity, rest)) = severity(rest) else {
        let message = rest.trim();
        return (unmarked == Unmarked::Error && !message.is_empty()).then(|| {
            let (code, message) = code(message);
            of(place, Severity::Error, code, message)
        });
    };
    let (code, message) = named_code(rest);
    Some(of(place, severity, code, message))
}

/// `path(3,5): error CS1002: message [project]`.
fn in_parentheses(line: &str) -> Option<Diagnostic> {
    let (before, rest) = line.split_once("): ")?;
    let (file, numbers) = before.rsplit_once('(')?;
    let mut numbers = numbers.split(',').map(|number| number.parse::<u64>().ok());
    let (line, column) = (numbers.next()??, numbers.next().flatten());
    let (severity, rest) = severity(rest)?;
    let rest =
        rest.rsplit_once(" [").filter(|_| rest.ends_with("proj]")).map_or(rest, |(message, _)| message);
    let (code, message) = named_code(rest);
    Some(of(SourceLocation { file: file.trim().to_owned(), line, column }, severity, code, message))
}

/// `[ERROR] path:[3,5] message`.
fn maven(line: &str) -> Option<Diagnostic> {
    let (severity, rest) = match line.strip_prefix("[ERROR] ") {
        Some(rest) => (Severity::Error, rest),
        None => (Severity::Warning, line.strip_prefix("[WARNING] ")?),
    };
    let (file, rest) = rest.split_once(":[")?;
    let (numbers, message) = rest.split_once("] ")?;
    let (line, column) = numbers.split_once(',').unwrap_or((numbers, ""));
    let place =
        SourceLocation { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok() };
    Some(of(place, severity, None, message))
}

/// `e: file:///path:3:5 message`.
fn kotlin(line: &str) -> Option<Diagnostic> {
    let (severity, rest) = match line.strip_prefix("e: file://") {
        Some(rest) => (Severity::Error, rest),
        None => (Severity::Warning, line.strip_prefix("w: file://")?),
    };
    let (place, message) = leading(rest)?;
    Some(of(place, severity, None, message.trim_start_matches(':')))
}

/// `make: *** [Makefile:3: target] Error 2`.
fn make(rest: &str) -> Option<Diagnostic> {
    let (inner, ending) = rest.split_once(']')?;
    let (place, target) = leading(inner)?;
    let message = format!("{}:{ending}", target.trim_start_matches(':').trim());
    Some(of(place, Severity::Error, None, &message))
}

fn severity(rest: &str) -> Option<(Severity, &str)> {
    let words =
        [("fatal error", Severity::Error), ("error", Severity::Error), ("warning", Severity::Warning)];
    words.iter().find_map(|(word, severity)| {
        let after = rest.strip_prefix(word)?;
        after.starts_with([':', ' ']).then_some((*severity, after))
    })
}

/// Splits off the code between the severity and the colon.
fn named_code(rest: &str) -> (Option<&str>, &str) {
    match rest.split_once(':') {
        Some((code, message)) if code.trim().is_empty() => (None, message),
        Some((code, message)) if !code.trim().contains(' ') => (Some(code.trim()), message),
        _ => (None, rest),
    }
}

/// Splits off a first word that looks like a code, such as `F401`.
fn code(message: &str) -> (Option<&str>, &str) {
    let Some((first, rest)) = message.split_once(' ') else { return (None, message) };
    let letters = first.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = &first[letters..];
    let is_code =
        (1..=4).contains(&letters) && digits.len() >= 2 && digits.bytes().all(|b| b.is_ascii_digit());
    if is_code { (Some(first), rest) } else { (None, message) }
}

fn of(place: SourceLocation, severity: Severity, code: Option<&str>, message: &str) -> Diagnostic {
    Diagnostic {
        severity,
        message: message.trim().to_owned(),
        code: code.map(str::to_owned),
        file: Some(place.file),
        line: Some(place.line),
        column: place.column,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(line: &str) -> (Severity, String, Option<String>, String, u64, Option<u64>) {
        let found = diagnostics(line, Unmarked::Error);
        assert_eq!(found.len(), 1, "{line}");
        let found = found.into_iter().next().expect("one");
        (
            found.severity,
            found.file.expect("a file"),
            found.code,
            found.message,
            found.line.expect("a line"),
            found.column,
        )
    }

    #[test]
    fn every_style_is_understood() {
        use Severity::{Error, Warning};
        let some = |text: &str| Some(text.to_owned());
        for (line, expected) in [
            (
                "src/a.c:3:5: error: expected ';'",
                (Error, "src/a.c".into(), None, "expected ';'".into(), 3, Some(5)),
            ),
            (
                "a.c:1:10: fatal error: x.h: No such file",
                (Error, "a.c".into(), None, "x.h: No such file".into(), 1, Some(10)),
            ),
            (
                "a.c:3:5: warning: unused [-Wunused]",
                (Warning, "a.c".into(), None, "unused [-Wunused]".into(), 3, Some(5)),
            ),
            (
                "/p/App.java:5: error: ';' expected",
                (Error, "/p/App.java".into(), None, "';' expected".into(), 5, None),
            ),
            ("./x.go:7:2: undefined: y", (Error, "./x.go".into(), None, "undefined: y".into(), 7, Some(2))),
            (
                "src/a.ts(3,5): error TS2322: bad type",
                (Error, "src/a.ts".into(), some("TS2322"), "bad type".into(), 3, Some(5)),
            ),
            (
                "src/a.ts:3:5 - error TS2322: bad type",
                (Error, "src/a.ts".into(), some("TS2322"), "bad type".into(), 3, Some(5)),
            ),
            (
                "/p/A.cs(3,5): warning CS0168: unused [/p/A.csproj]",
                (Warning, "/p/A.cs".into(), some("CS0168"), "unused".into(), 3, Some(5)),
            ),
            (
                "[ERROR] /p/App.java:[5,10] cannot find symbol",
                (Error, "/p/App.java".into(), None, "cannot find symbol".into(), 5, Some(10)),
            ),
            (
                "e: file:///p/App.kt:3:5 unresolved",
                (Error, "/p/App.kt".into(), None, "unresolved".into(), 3, Some(5)),
            ),
            (
                "a.py:1:8: F401 `os` imported but unused",
                (Error, "a.py".into(), some("F401"), "`os` imported but unused".into(), 1, Some(8)),
            ),
            (
                "make: *** [Makefile:3: all] Error 2",
                (Error, "Makefile".into(), None, "all: Error 2".into(), 3, None),
            ),
        ] {
            assert_eq!(only(line), expected, "{line}");
        }
    }

    #[test]
    fn sentences_with_colons_are_not_diagnostics() {
        for line in
            ["Finished at: 12:30:45", "https://host:8080: error", "npm error code 1", "warning: unused"]
        {
            assert_eq!(diagnostics(line, Unmarked::Error), [], "{line}");
        }
        assert_eq!(diagnostics("a.go:3:4: hello", Unmarked::Skip), []);
    }
}
