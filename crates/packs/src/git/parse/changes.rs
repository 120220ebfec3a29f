//! `diff --raw --numstat -z`.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::git) struct FileChange {
    pub(in crate::git) path: String,
    /// Previous path, if it was renamed or copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::git) original_path: Option<String>,
    pub(in crate::git) status: FileStatus,
    /// Lines added; missing for binary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::git) added: Option<u64>,
    /// Lines removed; missing for binary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::git) removed: Option<u64>,
}

/// The kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::git) enum FileStatus {
    Added,
    Copied,
    Deleted,
    Modified,
    Renamed,
    TypeChanged,
    Unmerged,
    Unknown,
}

/// Parses the fields: the raw entries, then the counts.
pub(in crate::git) fn changes(fields: Vec<String>) -> Vec<FileChange> {
    let mut found: Vec<FileChange> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut fields = fields.into_iter();
    while let Some(field) = fields.next() {
        if let Some(entry) = field.strip_prefix(':') {
            let status = FileStatus::of(entry.rsplit(' ').next().unwrap_or_default());
            let Some(first) = fields.next() else { break };
            let moved = matches!(status, FileStatus::Renamed | FileStatus::Copied);
            let (path, original_path) = match moved.then(|| fields.next()) {
                Some(Some(new)) => (new, Some(first)),
                Some(None) => break,
                None => (first, None),
            };
            places.entry(path.clone()).or_insert(found.len());
            found.push(FileChange { path, original_path, status, added: None, removed: None });
        } else {
            let mut columns = field.splitn(3, '\t');
            let (added, removed) =
                (columns.next().and_then(|n| n.parse().ok()), columns.next().and_then(|n| n.parse().ok()));
            let path = match columns.next() {
                // For a renamed file, both paths follow in separate fields.
                Some("") => fields.nth(1),
                path => path.map(Into::into),
            };
            if let Some(place) = path.and_then(|path| places.get(&path)) {
                (found[*place].added, found[*place].removed) = (added, removed);
            }
        }
    }
    found
}

impl FileStatus {
    fn of(letters: &str) -> Self {
        match letters.chars().next() {
            Some('A') => Self::Added,
            Some('C') => Self::Copied,
            Some('D') => Self::Deleted,
            Some('M') => Self::Modified,
            Some('R') => Self::Renamed,
            Some('T') => Self::TypeChanged,
            Some('U') => Self::Unmerged,
            _ => Self::Unknown,
        }
    }
}

impl FileChange {
    /// One line of text for people.
    pub(in crate::git) fn line(&self) -> String {
        let counts = match (self.added, self.removed) {
            (Some(added), Some(removed)) => format!("+{added} -{removed}"),
            _ => "binary".into(),
        };
        let from = self.original_path.as_ref().map(|path| format!(" (from {path})")).unwrap_or_default();
        crate::git::failure::clean(&format!("{:?} {}{from} {counts}", self.status, self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_entries_and_counts_are_joined() {
        let fields = [
            ":100644 100644 aa bb M",
            ":odd",
            ":100644 100644 aa bb R090",
            "old",
            "new",
            ":000000 100644 00 bb A",
            "image",
            "1\t2\t:odd",
            "3\t4\t",
            "old",
            "new",
            "-\t-\timage",
        ];
        let changes = changes(fields.map(Into::into).into());
        let lines: Vec<_> = changes.iter().map(FileChange::line).collect();
        assert_eq!(lines, ["Modified :odd +1 -2", "Renamed new (from old) +3 -4", "Added image binary"]);
    }
}
