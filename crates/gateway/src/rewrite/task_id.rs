//! Public task ids: they contain the server's task id and the tool, sealed for the caller that
//! started the task.
//!
//! The seal's key lives as long as the process, and so do the ids. Other callers can neither use
//! nor forge one, and routing needs no stored state.

use super::seal::Seal;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// Longest accepted id, in bytes.
const MAX_ID: usize = 4096;

/// Seals and opens public task ids.
#[derive(Debug)]
pub(crate) struct TaskIds(Seal);

/// The content of a public task id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedTask {
    /// The policy subject of the tool that started the task; it begins with the server's name.
    pub(crate) subject: String,
    /// The server's own id.
    pub(crate) inner: String,
}

impl TaskIds {
    pub(crate) fn new() -> Self {
        Self(Seal::new())
    }

    /// The public id; deterministic.
    pub(crate) fn seal(&self, caller: &str, subject: &str, inner: &str) -> String {
        let content = format!("{subject}\0{inner}");
        format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(&content),
            self.0.tag(&[caller.as_bytes(), content.as_bytes()])
        )
    }

    /// `None` if this process did not seal it for this caller.
    pub(crate) fn open(&self, caller: &str, public: &str) -> Option<OpenedTask> {
        let (content, tag) = public.get(..MAX_ID.min(public.len()))?.split_once('.')?;
        let content = URL_SAFE_NO_PAD.decode(content).ok()?;
        if !self.0.fits(&[caller.as_bytes(), &content], tag) {
            return None;
        }
        // A subject has no NUL before the server's part ends, and a tool's name with one is no
        // public name.
        let content = String::from_utf8(content).ok()?;
        let (subject, inner) = content.split_once('\0')?;
        Some(OpenedTask { subject: subject.to_owned(), inner: inner.to_owned() })
    }
}

impl OpenedTask {
    pub(crate) fn server(&self) -> &str {
        self.subject.split_once('_').map_or("", |(server, _)| server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s05_an_id_opens_for_its_owner_only() {
        let ids = TaskIds::new();
        let id = ids.seal("alice", "fs_long", "inner/1é");
        let opened = ids.open("alice", &id).unwrap();
        assert_eq!((opened.server(), opened.inner.as_str()), ("fs", "inner/1é"));
        assert_eq!(id, ids.seal("alice", "fs_long", "inner/1é"));
        assert_eq!(ids.open("bob", &id), None);
        assert_eq!(TaskIds::new().open("alice", &id), None);
        for bad in ["", ".", "inner/1é", "a.b", &id[1..], &format!("{id}A")] {
            assert_eq!(ids.open("alice", bad), None, "{bad}");
        }
        assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
    }
}
