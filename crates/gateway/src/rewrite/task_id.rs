//! Task ids: a task is known outside by a text that says where it lives and is sealed for whoever started it.
//!
//! The seal's key lives as long as the process, and so do the ids. Nobody else can use or make one, and nothing has to be
//! remembered to route it.

use super::seal::Seal;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// The longest id that is looked at.
const MAX_ID: usize = 4096;

/// Seals and opens public task ids.
#[derive(Debug)]
pub(crate) struct TaskIds(Seal);

/// What a public task id says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedTask {
    /// What policy knew the tool by that started the task; it begins with the server's name.
    pub(crate) subject: String,
    /// The server's own id.
    pub(crate) inner: String,
}

impl TaskIds {
    pub(crate) fn new() -> Self {
        Self(Seal::new())
    }

    /// The public id; the same each time.
    pub(crate) fn seal(&self, caller: &str, subject: &str, inner: &str) -> String {
        let said = format!("{subject}\0{inner}");
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&said), self.0.tag(caller, said.as_bytes()))
    }

    /// `None` when it was not sealed here for this caller.
    pub(crate) fn open(&self, caller: &str, public: &str) -> Option<OpenedTask> {
        let (said, tag) = public.get(..MAX_ID.min(public.len()))?.split_once('.')?;
        let said = URL_SAFE_NO_PAD.decode(said).ok()?;
        if !self.0.fits(caller, &said, tag) {
            return None;
        }
        // A subject has no NUL before the server's part ends, and a tool's name with one is no public name.
        let said = String::from_utf8(said).ok()?;
        let (subject, inner) = said.split_once('\0')?;
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
