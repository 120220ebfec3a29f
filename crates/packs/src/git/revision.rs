//! Names from callers: revisions, branches, remotes. None can be taken for an option.

use trunkline_toolbox::ToolError;

/// Maximum length of a name in bytes.
const LONGEST: usize = 512;

/// Text that may name a revision, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Revision(String);

/// A valid name of a branch or tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefName(String);

impl Revision {
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        plain("revision", text)?;
        Ok(Self(text.into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl RefName {
    /// The rules of `git check-ref-format --branch`.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        plain("name", text)?;
        let bad_part =
            |part: &str| part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some();
        let bad = text.split('/').any(bad_part)
            || text.ends_with('.')
            || text == "@"
            || text == "HEAD"
            || text.contains("..")
            || text.contains("@{")
            || text.contains([' ', '~', '^', ':', '?', '*', '[', '\\']);
        if bad {
            return Err(ToolError::new(format!("{text:?} cannot be the name of a branch or tag"))
                .hint("Use letters, digits, dashes and slashes, such as `feature/login`."));
        }
        Ok(Self(text.into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The full name of the branch.
    pub(super) fn branch(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    /// The full name of the tag.
    pub(super) fn tag(&self) -> String {
        format!("refs/tags/{}", self.0)
    }
}

/// Refuses a text that is empty, too long, looks like an option, or has control characters.
pub(super) fn plain(what: &str, text: &str) -> Result<(), ToolError> {
    let reason = if text.is_empty() {
        "is empty"
    } else if text.len() > LONGEST {
        "is too long"
    } else if text.starts_with('-') {
        "starts with a dash, as options do"
    } else if text.chars().any(char::is_control) {
        "contains a control character"
    } else {
        return Ok(());
    };
    Err(ToolError::new(format!("the {what} {:?} {reason}", text.chars().take(60).collect::<String>()))
        .hint(format!("Give a {what}, not an option of the git command line.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_not_revisions() {
        for text in ["--output=x", "-c", "", "a\nb", "\u{1b}[31m"] {
            assert!(Revision::parse(text).is_err(), "{text:?}");
        }
        for text in ["HEAD~3", "v1.0^{}", "main:src/lib.rs", "HEAD@{1 day ago}", ":/fix"] {
            assert!(Revision::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn names_follow_the_rules_of_git() {
        for text in [
            "-x", "a..b", "a b", "x.lock", "a//b", "/a", "a/", ".a", "a.", "@", "HEAD", "a@{1}", "a:b", "a~1",
        ] {
            assert!(RefName::parse(text).is_err(), "{text:?}");
        }
        for text in ["main", "feature/ä-1", "v1.0"] {
            assert!(RefName::parse(text).is_ok(), "{text:?}");
        }
    }
}
