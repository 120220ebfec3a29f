//! The parts of a caller's request that a server behind the gateway may need.

use super::Caller;
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Headers and token of a request, as far as the configuration wants them kept. Their values are
/// secrets and not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Carried {
    /// By lower-case name.
    headers: BTreeMap<String, String>,
    /// The token that the caller was verified by.
    token: Option<Arc<str>>,
    /// True if the caller is the local user. Set here only, so no client can claim it.
    pub(super) local: bool,
}

impl Carried {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn token(&self) -> Option<&Arc<str>> {
        self.token.as_ref()
    }
}

impl Caller {
    /// The same caller with parts of its request. Header names are lower-case.
    #[must_use]
    pub fn carrying(&self, headers: BTreeMap<String, String>, token: Option<Arc<str>>) -> Self {
        let carried = Carried { headers, token, local: Self::is_local(self) };
        Self { carried: Some(Arc::new(carried)), ..self.clone() }
    }

    /// The value of a header that was kept, by lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.carried.as_ref()?.header(name)
    }

    /// The token that the caller was verified by, if it was kept.
    pub fn token(&self) -> Option<&Arc<str>> {
        self.carried.as_ref()?.token()
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").field("headers", &self.headers.keys()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_user_stays_local_and_no_value_is_shown() {
        let headers = BTreeMap::from([("x-tenant".to_owned(), "canary".to_owned())]);
        let local = Caller::local().carrying(headers.clone(), Some("canary".into()));
        assert!(Caller::is_local(&local));
        assert_eq!((local.header("x-tenant"), local.header("x-other")), (Some("canary"), None));
        let other = Caller::named("local").carrying(headers, None);
        assert!(!Caller::is_local(&other));
        assert!(!format!("{local:?}{other:?}").contains("canary"));
    }
}
