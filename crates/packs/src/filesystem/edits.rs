//! Applies edits to a text.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use trunkline_toolbox::ToolError;

const MAX_NAMED_LINES: usize = 5;

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Edit {
    /// Exact text in the file, including white space
    pub(super) old_text: String,
    /// Replacement text, taken literally
    pub(super) new_text: String,
}

/// Number of occurrences that one edit may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    One,
    All,
}

struct Change {
    range: Range<usize>,
    new: String,
    edit: usize,
}

/// The edited text, and the number of replacements. All edits are searched in the original text,
/// so no edit matches text that another one inserted.
pub(super) fn apply(text: &str, edits: &[Edit], places: Places) -> Result<(String, usize), ToolError> {
    let mut changes = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        changes.extend(find(text, edit, at, places)?);
    }
    changes.sort_by_key(|change| change.range.start);
    if let Some(pair) = changes.windows(2).find(|pair| pair[0].range.end > pair[1].range.start) {
        let (a, b) = (pair[0].edit.min(pair[1].edit) + 1, pair[0].edit.max(pair[1].edit) + 1);
        let line = line_of(text, pair[1].range.start);
        return Err(
            ToolError::new(format!("edits {a} and {b} overlap at line {line}")).hint("make them one edit")
        );
    }
    let mut new = String::with_capacity(text.len());
    let mut end = 0;
    for change in &changes {
        new.push_str(&text[end..change.range.start]);
        new.push_str(&change.new);
        end = change.range.end;
    }
    new.push_str(&text[end..]);
    Ok((new, changes.len()))
}

fn find(text: &str, edit: &Edit, at: usize, places: Places) -> Result<Vec<Change>, ToolError> {
    let number = at + 1;
    if edit.old_text.is_empty() {
        return Err(ToolError::new(format!("old_text of edit {number} is empty"))
            .hint("give the text to replace, or use write_file with mode: \"append\""));
    }
    if edit.old_text == edit.new_text {
        return Err(ToolError::new(format!("edit {number} changes nothing")).hint("leave it out"));
    }
    let candidates = [edit.old_text.clone(), with_crlf(&edit.old_text), edit.old_text.replace("\r\n", "\n")];
    let Some(old) = candidates.iter().find(|old| text.contains(old.as_str())) else {
        return Err(not_found(text, edit, number));
    };
    let starts: Vec<usize> = match places {
        Places::All => text.match_indices(old.as_str()).map(|(start, _)| start).collect(),
        Places::One => overlapping(text, old).take(MAX_NAMED_LINES + 1).collect(),
    };
    if places == Places::One && starts.len() > 1 {
        return Err(ambiguous(text, &starts, number));
    }
    let new = if old.contains("\r\n") || uses_crlf(text) {
        with_crlf(&edit.new_text)
    } else {
        edit.new_text.clone()
    };
    Ok(starts
        .into_iter()
        .map(|start| Change { range: start..start + old.len(), new: new.clone(), edit: at })
        .collect())
}

/// Positions of all occurrences, including overlapping ones.
fn overlapping<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(old)?;
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        Some(start)
    })
}

fn ambiguous(text: &str, starts: &[usize], number: usize) -> ToolError {
    let lines: Vec<String> =
        starts.iter().take(MAX_NAMED_LINES).map(|start| line_of(text, *start).to_string()).collect();
    let more = if starts.len() > MAX_NAMED_LINES { " and more" } else { "" };
    ToolError::new(format!(
        "old_text of edit {number} is there more than once: lines {}{more}",
        lines.join(", ")
    ))
    .hint("add surrounding lines to old_text until it is unique, or pass replace_all: true")
}

fn not_found(text: &str, edit: &Edit, number: usize) -> ToolError {
    let error = ToolError::new(format!("old_text of edit {number} is not in the file"));
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = edit.old_text.lines().map(squeezed).filter(|line| !line.is_empty()).collect();
    let Some(first) = wanted.first() else {
        return error.hint("read the file and copy the text as it stands there");
    };
    match text.lines().position(|line| squeezed(line) == *first) {
        Some(line) => error.hint(format!(
            "line {} has its first line with the same words, so white space or a later line differs; copy the text as it stands there",
            line + 1
        )),
        None => error.hint("read the file and copy the text as it stands there"),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn uses_crlf(text: &str) -> bool {
    text.matches("\r\n").count() * 2 > text.matches('\n').count()
}
