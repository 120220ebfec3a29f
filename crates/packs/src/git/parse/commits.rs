//! `log -z` in our own format.

use crate::git::answer::{Commit, Person};

/// Ten fields, each terminated by NUL (the last one by `-z`). A message cannot contain NUL.
pub(in crate::git) const COMMIT_FORMAT: &str =
    "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%D%x00%B";

const FIELDS: usize = 10;

/// Parses the fields; a truncated last commit is left out.
pub(in crate::git) fn commits(fields: &[String]) -> Vec<Commit> {
    fields.chunks_exact(FIELDS).map(commit).collect()
}

fn commit(fields: &[String]) -> Commit {
    let person = |at: usize| Person {
        name: fields[at].clone(),
        email: fields[at + 1].clone(),
        date: fields[at + 2].clone(),
    };
    let (subject, body) = fields[9].trim_end().split_once('\n').unwrap_or((fields[9].trim_end(), ""));
    Commit {
        hash: fields[0].clone(),
        parents: fields[1].split_whitespace().map(Into::into).collect(),
        author: person(2),
        committer: person(5),
        subject: subject.into(),
        body: body.trim_start_matches('\n').into(),
        refs: fields[8].split(", ").filter(|name| !name.is_empty()).map(Into::into).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_make_commits_and_a_cut_one_is_left_out() {
        let fields = [
            "h",
            "p q",
            "A",
            "a@x",
            "d1",
            "C",
            "c@x",
            "d2",
            "HEAD -> main, tag: v1",
            "one\n\ntwo\nthree\n",
            "cut",
        ];
        let found = commits(&fields.map(Into::into));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].parents, ["p", "q"]);
        assert_eq!((found[0].subject.as_str(), found[0].body.as_str()), ("one", "two\nthree"));
        assert_eq!(found[0].refs, ["HEAD -> main", "tag: v1"]);
    }
}
