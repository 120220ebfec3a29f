//! `status --porcelain=v2 --branch -z`.

use schemars::JsonSchema;
use serde::Serialize;

/// A changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::git) struct StatusEntry {
    pub(in crate::git) path: String,
    /// Previous path, if it was renamed or copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::git) original_path: Option<String>,
    /// Change from the last commit to the index.
    pub(in crate::git) staged: Change,
    /// Change from the index to the working file.
    pub(in crate::git) unstaged: Change,
}

/// The kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::git) enum Change {
    Unchanged,
    Modified,
    TypeChanged,
    Added,
    Deleted,
    Renamed,
    Copied,
    /// In conflict.
    Unmerged,
    Untracked,
}

/// The state of HEAD.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::git) struct StatusHead {
    pub(in crate::git) commit: Option<String>,
    pub(in crate::git) branch: Option<String>,
    pub(in crate::git) upstream: Option<String>,
    pub(in crate::git) ahead: Option<u64>,
    pub(in crate::git) behind: Option<u64>,
}

/// Parses the fields; those of an unknown kind are skipped.
pub(in crate::git) fn status(fields: Vec<String>) -> (StatusHead, Vec<StatusEntry>) {
    let mut head = StatusHead::default();
    let mut entries = Vec::new();
    let mut fields = fields.into_iter();
    while let Some(field) = fields.next() {
        let Some((kind, rest)) = field.split_once(' ') else { continue };
        match kind {
            "#" => head.read(rest),
            "1" => entries.extend(entry(rest, 7, None)),
            "2" => match fields.next() {
                Some(original) => entries.extend(entry(rest, 8, Some(original))),
                None => break,
            },
            "u" => entries.extend(entry(rest, 9, None).map(|entry| StatusEntry {
                staged: Change::Unmerged,
                unstaged: Change::Unmerged,
                ..entry
            })),
            "?" => entries.push(StatusEntry {
                path: rest.into(),
                original_path: None,
                staged: Change::Unchanged,
                unstaged: Change::Untracked,
            }),
            _ => {}
        }
    }
    (head, entries)
}

/// Parses an entry: `columns` columns, beginning with the two status letters, then the path.
fn entry(text: &str, columns: usize, original_path: Option<String>) -> Option<StatusEntry> {
    let mut letters = text.chars();
    let (staged, unstaged) = (Change::of(letters.next()?), Change::of(letters.next()?));
    let path = text.splitn(columns + 1, ' ').nth(columns)?.to_owned();
    Some(StatusEntry { path, original_path, staged, unstaged })
}

impl Change {
    fn of(letter: char) -> Self {
        match letter {
            'M' => Self::Modified,
            'T' => Self::TypeChanged,
            'A' => Self::Added,
            'D' => Self::Deleted,
            'R' => Self::Renamed,
            'C' => Self::Copied,
            'U' => Self::Unmerged,
            '?' => Self::Untracked,
            _ => Self::Unchanged,
        }
    }

    /// Git's status letter.
    pub(in crate::git) fn letter(self) -> char {
        match self {
            Self::Unchanged => '.',
            Self::Modified => 'M',
            Self::TypeChanged => 'T',
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Renamed => 'R',
            Self::Copied => 'C',
            Self::Unmerged => 'U',
            Self::Untracked => '?',
        }
    }
}

impl StatusHead {
    fn read(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("branch.oid", oid)) => self.commit = Some(oid.to_owned()).filter(|oid| oid != "(initial)"),
            Some(("branch.head", name)) => {
                self.branch = Some(name.to_owned()).filter(|name| name != "(detached)");
            }
            Some(("branch.upstream", name)) => self.upstream = Some(name.to_owned()),
            Some(("branch.ab", counts)) => {
                let mut counts = counts.split(' ').map(|count| count.get(1..)?.parse().ok());
                (self.ahead, self.behind) = (counts.next().flatten(), counts.next().flatten());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_entry_is_read() {
        let fields = [
            "# branch.oid (initial)",
            "# branch.head main",
            "# branch.upstream origin/main",
            "# branch.ab +2 -1",
            "1 .M N... 100644 100644 100644 aa bb with space.txt",
            "2 R. N... 100644 100644 100644 aa bb R100 new name",
            "old name",
            "u UU N... 100644 100644 100644 100644 aa bb cc both",
            "? untracked\nname",
            "! ignored",
        ];
        let (head, entries) = status(fields.map(Into::into).into());
        assert_eq!((head.commit, head.branch.as_deref()), (None, Some("main")));
        assert_eq!((head.ahead, head.behind), (Some(2), Some(1)));
        let shown: Vec<_> = entries
            .iter()
            .map(|entry| format!("{}{} {}", entry.staged.letter(), entry.unstaged.letter(), entry.path))
            .collect();
        assert_eq!(shown, [".M with space.txt", "R. new name", "UU both", ".? untracked\nname"]);
        assert_eq!(entries[1].original_path.as_deref(), Some("old name"));
    }

    #[test]
    fn a_rename_that_was_cut_is_left_out() {
        let fields = vec!["2 R. N... 100644 100644 100644 aa bb R100 new".to_owned()];
        assert!(status(fields).1.is_empty());
    }
}
