//! `blame --line-porcelain`.

use schemars::JsonSchema;
use serde::Serialize;

/// A line with the commit that last changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::git) struct BlamedLine {
    /// Current line number.
    pub(in crate::git) line: u64,
    /// Full hash; all zeros for an uncommitted change.
    pub(in crate::git) commit: String,
    pub(in crate::git) author: String,
    /// Seconds since 1970.
    pub(in crate::git) time: i64,
    /// First line of the commit's message.
    pub(in crate::git) summary: String,
    pub(in crate::git) text: String,
}

/// Parses the output; a truncated last line is left out.
pub(in crate::git) fn blame(output: &str) -> Vec<BlamedLine> {
    let mut lines = Vec::new();
    let mut current: Option<BlamedLine> = None;
    for row in output.split_inclusive('\n') {
        let Some(row) = row.strip_suffix('\n') else { break };
        let Some(line) = &mut current else {
            current = header(row);
            continue;
        };
        if let Some(text) = row.strip_prefix('\t') {
            text.clone_into(&mut line.text);
            lines.extend(current.take());
        } else if let Some((key, value)) = row.split_once(' ') {
            match key {
                "author" => value.clone_into(&mut line.author),
                "author-time" => line.time = value.parse().unwrap_or_default(),
                "summary" => value.clone_into(&mut line.summary),
                _ => {}
            }
        }
    }
    lines
}

fn header(row: &str) -> Option<BlamedLine> {
    let mut columns = row.split(' ');
    let commit = columns.next()?.to_owned();
    let line = columns.nth(1)?.parse().ok()?;
    Some(BlamedLine {
        line,
        commit,
        author: String::new(),
        time: 0,
        summary: String::new(),
        text: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_their_commits() {
        let output = "abc 1 1 2\nauthor A B\nauthor-time 7\nsummary s t\nfilename f\n\ttext\there\nabc 2 2\nauthor A B\n\tcut";
        let lines = blame(output);
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (lines[0].author.as_str(), lines[0].time, lines[0].text.as_str()),
            ("A B", 7, "text\there")
        );
    }
}
