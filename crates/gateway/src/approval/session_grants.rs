//! Agreements that hold for the session of a client. They are kept in memory, because sessions are.

use crate::policy::Consent;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

/// Most tools that one session can have agreements for. Names of resources are chosen by clients.
const MAX_TOOLS: usize = 1000;

/// The agreements of all sessions.
#[derive(Default)]
pub(super) struct SessionGrants(Mutex<HashMap<String, Agreed>>);

struct Agreed {
    session: Weak<str>,
    /// The person who agreed, by tool and kind of consent.
    tools: HashMap<(String, Consent), String>,
}

impl SessionGrants {
    /// Remembers an agreement until the session ends.
    pub(super) fn keep(&self, session: &Arc<str>, tool: &str, from: Consent, by: &str) {
        let mut sessions = self.0.lock();
        sessions.retain(|_, agreed| agreed.session.strong_count() > 0);
        let agreed = sessions
            .entry(session.to_string())
            .or_insert_with(|| Agreed { session: Arc::downgrade(session), tools: HashMap::new() });
        if agreed.tools.len() < MAX_TOOLS {
            agreed.tools.insert((tool.to_owned(), from), by.to_owned());
        } else {
            tracing::warn!(tool, "the session has too many agreements; this one holds for one call");
        }
    }

    /// The person who agreed to the tool in this session. If a rule wants the consent of an
    /// operator, only that of an operator counts.
    pub(super) fn find(&self, session: &str, tool: &str, wanted: Consent) -> Option<String> {
        let sessions = self.0.lock();
        let tools = &sessions.get(session)?.tools;
        let of_client = || tools.get(&(tool.to_owned(), Consent::Client));
        let found = tools.get(&(tool.to_owned(), Consent::Operator));
        found.or_else(|| if wanted == Consent::Client { of_client() } else { None }).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agreement_ends_with_its_session() {
        let grants = SessionGrants::default();
        let (one, other): (Arc<str>, Arc<str>) = ("one".into(), "other".into());
        grants.keep(&one, "wipe", Consent::Client, "ada");
        assert_eq!(grants.find(&one, "wipe", Consent::Client).as_deref(), Some("ada"));
        assert_eq!(grants.find(&one, "burn", Consent::Client), None);
        assert_eq!(grants.find(&other, "wipe", Consent::Client), None);
        drop(one);
        grants.keep(&other, "wipe", Consent::Client, "ada");
        assert_eq!(grants.find("one", "wipe", Consent::Client), None);
        assert_eq!(grants.0.lock().len(), 1);
    }

    #[test]
    fn the_agreement_of_a_client_is_none_of_an_operator() {
        let (grants, session) = (SessionGrants::default(), Arc::<str>::from("one"));
        grants.keep(&session, "wipe", Consent::Client, "ada");
        assert_eq!(grants.find(&session, "wipe", Consent::Operator), None);
        grants.keep(&session, "wipe", Consent::Operator, "key:root");
        assert_eq!(grants.find(&session, "wipe", Consent::Operator).as_deref(), Some("key:root"));
        assert_eq!(grants.find(&session, "wipe", Consent::Client).as_deref(), Some("key:root"));
    }

    #[test]
    fn l05_a_session_cannot_fill_the_memory_with_agreements() {
        let (grants, session) = (SessionGrants::default(), Arc::<str>::from("one"));
        for number in 0..MAX_TOOLS + 10 {
            grants.keep(&session, &number.to_string(), Consent::Client, "ada");
        }
        assert_eq!(grants.0.lock()[&*session].tools.len(), MAX_TOOLS);
        assert_eq!(grants.find(&session, &MAX_TOOLS.to_string(), Consent::Client), None);
    }
}
