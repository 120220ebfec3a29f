//! Paths in arguments: is a path in a directory, judged by its text alone.
//!
//! The gateway does not know the server's file system, so a path is judged only if its text leaves
//! no doubt. Anything that a server might resolve differently cannot be judged.

use super::truth::Truth;

/// A directory, as its segments.
#[derive(Debug, Clone)]
pub(crate) struct Directory {
    is_absolute: bool,
    segments: Vec<String>,
}

impl Directory {
    /// `None` if the text itself is doubtful.
    pub(crate) fn new(text: &str) -> Option<Self> {
        if text.is_empty() || is_doubtful(text) {
            return None;
        }
        let segments = segments(text).map(str::to_owned).collect();
        Some(Self { is_absolute: text.starts_with('/'), segments })
    }

    /// True if `path` is this directory or something in it.
    pub(crate) fn contains(&self, path: &str) -> Truth {
        if path.is_empty() || is_doubtful(path) || path.starts_with('/') != self.is_absolute {
            return Truth::Unknown;
        }
        let begins = |same: fn(&str, &str) -> bool| {
            let mut path = segments(path);
            self.segments.iter().all(|own| path.next().is_some_and(|given| same(own, given)))
        };
        if begins(|own, given| own == given) {
            return Truth::Yes;
        }
        // On a file system that ignores case, or stores other forms of a letter, these are the
        // same.
        if begins(|own, given| !given.is_ascii() || own.to_lowercase() == given.to_lowercase()) {
            return Truth::Unknown;
        }
        Truth::No
    }
}

fn segments(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|segment| !segment.is_empty() && *segment != ".")
}

/// True if servers may disagree about the path: `..` depends on symbolic links; `~`, `$` and `%`
/// may be expanded; `\` may separate directories; a URL may be decoded.
fn is_doubtful(text: &str) -> bool {
    let escapes = |c: char| c.is_control() || matches!(c, '\\' | '~' | '$' | '%' | '*' | '?');
    text.contains(escapes)
        || text.contains("://")
        || text.starts_with("file:")
        || text != text.trim()
        || text.split('/').any(|segment| segment.trim_end_matches([' ', '.']).is_empty() && segment.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a05_only_a_path_without_doubt_is_within() {
        let srv = Directory::new("/srv/data/").unwrap();
        for inside in ["/srv/data", "/srv/data/", "/srv//data/./a", "/srv/data/a/b", "//srv/data/..a"] {
            assert_eq!(srv.contains(inside), Truth::Yes, "{inside}");
        }
        for outside in ["/srv", "/etc/passwd", "/srv/database", "/", "/srv/x/data"] {
            assert_eq!(srv.contains(outside), Truth::No, "{outside}");
        }
        for doubtful in [
            "/srv/data/../../etc/passwd",
            "/srv/data/..",
            "/etc/../srv/data/a",
            "srv/data/a",
            "",
            "~/srv/data",
            "/srv/data/$HOME",
            "/srv/data/%2e%2e/x",
            "/srv/data\\..\\x",
            "file:///srv/data/a",
            "/srv/data/a\0b",
            " /srv/data",
            "/SRV/data/a",
            "/srv/d\u{0430}ta/a",
            "/srv/data/*",
            "/srv/data/.. /x",
        ] {
            assert_eq!(srv.contains(doubtful), Truth::Unknown, "{doubtful:?}");
        }
    }

    #[test]
    fn a_relative_directory_contains_relative_paths() {
        let src = Directory::new("src").unwrap();
        assert_eq!(src.contains("src/a.rs"), Truth::Yes);
        assert_eq!(src.contains("./src"), Truth::Yes);
        assert_eq!(src.contains("docs/a.md"), Truth::No);
        assert_eq!(src.contains("/src/a.rs"), Truth::Unknown);
        assert_eq!(Directory::new(".").unwrap().contains("a/b"), Truth::Yes);
        assert!(["", "../x", "~/x", "a\\b"].iter().all(|text| Directory::new(text).is_none()));
    }
}
