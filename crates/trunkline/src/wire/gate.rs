//! The gate: adapts the authentication of `trunkline-auth` to `trunkline-serve`.

use ::http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;
use std::{net::IpAddr, sync::Arc};
use trunkline_auth::{
    AttemptLimit, AuthError, Authenticator, Challenge, Identity, Principal, TrustedProxies, Unidentified,
};
use trunkline_protocol::Caller;
use trunkline_serve::{Admission, Denied, Gate, Peer};

/// The token scopes that would give a role to a caller without one.
pub(crate) type RoleScopes = Arc<dyn Fn(&Caller) -> Vec<String> + Send + Sync>;

/// Number of cached callers. Others are built for each request.
const READY: usize = 32;

/// Converts verdicts of the authenticator.
struct Front {
    challenge: Challenge,
    roles: Option<RoleScopes>,
    /// Cache of callers by API key identity. It does not authenticate; that was done before.
    callers: Mutex<Vec<(Arc<Identity>, Arc<Caller>)>>,
}

/// A gate that admits the callers known to the authenticator. Wrong guesses are counted by the
/// address that the trusted proxies name. A token whose scopes give no role is refused, and told
/// the scopes that would. A request without an `Authorization` header comes from the owner of the
/// client certificate, if there is one.
pub(super) fn gate(
    authenticator: Authenticator,
    challenge: Challenge,
    proxies: TrustedProxies,
    roles: Option<RoleScopes>,
) -> Gate {
    let gate =
        Arc::new(trunkline_auth::Gate::new(authenticator, Unidentified::Refuse, AttemptLimit::default()));
    let front = Arc::new(Front { challenge, roles, callers: Mutex::default() });
    Arc::new(move |headers: &HeaderMap, peer: &Peer| {
        if let Some(certificate) = &peer.certificate
            && !headers.contains_key(header::AUTHORIZATION)
        {
            return Admission::Now(front.convert(Ok(Identity::certificate(&certificate.subject).into())));
        }
        let source = source(&proxies, headers, peer.address.ip());
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let verdict = match (given.next(), given.next()) {
            (None, _) => gate.admit_at_once::<HeaderValue>(&[], source),
            (Some(one), None) => gate.admit_at_once(&[one], source),
            // Several headers are refused, so two are enough to pass on.
            (Some(one), Some(two)) => gate.admit_at_once(&[one, two], source),
        };
        if let Some(verdict) = verdict {
            return Admission::Now(front.convert(verdict));
        }
        let given: Vec<HeaderValue> = headers.get_all(header::AUTHORIZATION).iter().cloned().collect();
        let (gate, front) = (gate.clone(), front.clone());
        Admission::Later(Box::pin(async move { front.convert(gate.admit(&given, source).await) }))
    })
}

/// The address that a request came from.
fn source(proxies: &TrustedProxies, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    if proxies.is_empty() {
        return peer;
    }
    let values = |name: &str| headers.get_all(name).iter().collect::<Vec<_>>();
    proxies.source(peer, &values("x-forwarded-for"), &values("forwarded"))
}

impl Front {
    fn convert(&self, verdict: Result<Arc<Identity>, AuthError>) -> Result<Arc<Caller>, Denied> {
        let identity = verdict.map_err(|error| Denied {
            status: error.status(),
            message: error.to_string(),
            challenge: HeaderValue::from_str(&self.challenge.of(&error)).ok(),
            retry_after: error.retry_after(),
        })?;
        let is_token = matches!(identity.principal, Principal::Token { .. });
        let caller = self.caller(identity);
        match &self.roles {
            Some(roles) if is_token => self.with_role(caller, roles),
            _ => Ok(caller),
        }
    }

    /// Refuses a caller that could have a role with another scope, and has none.
    fn with_role(&self, caller: Arc<Caller>, roles: &RoleScopes) -> Result<Arc<Caller>, Denied> {
        let helpful = roles(&caller);
        if helpful.is_empty() {
            return Ok(caller);
        }
        let message = format!("the token has no scope that gives a role; one of: {}", helpful.join(" "));
        let challenge = HeaderValue::from_str(&self.challenge.insufficient_scope(&helpful)).ok();
        Err(Denied { status: 403, message, challenge, retry_after: None })
    }

    fn caller(&self, identity: Arc<Identity>) -> Arc<Caller> {
        let identity = match Arc::try_unwrap(identity) {
            // The only reference: parsed from a token, so caching it by pointer would never hit.
            Ok(own) => return Arc::new(caller(own)),
            Err(shared) => shared,
        };
        let mut callers = self.callers.lock();
        if let Some((_, caller)) = callers.iter().find(|(known, _)| Arc::ptr_eq(known, &identity)) {
            return caller.clone();
        }
        let caller = Arc::new(caller(Identity::clone(&identity)));
        if callers.len() >= READY {
            callers.remove(0);
        }
        callers.push((identity, caller.clone()));
        caller
    }
}

/// The whole principal identifies a caller everywhere: sessions, limits, audit and roles.
pub(super) fn caller(identity: Identity) -> Caller {
    let Identity { principal, roles, scopes, claims } = identity;
    Caller { roles, scopes, claims, ..Caller::named(principal.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_auth::{ApiKeys, keys};

    fn admitted(gate: &Gate, tokens: &[&str]) -> Result<Arc<Caller>, Denied> {
        let mut headers = HeaderMap::new();
        for token in tokens {
            headers.append(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        }
        match gate(&headers, &Peer { address: "127.0.0.1:9".parse().unwrap(), certificate: None }) {
            Admission::Now(verdict) => verdict,
            Admission::Later(_) => panic!("a key needs nobody else"),
        }
    }

    #[test]
    fn who_comes_with_a_key_is_the_same_caller_each_time_and_nobody_else_is() {
        let (ada, bob) = (keys::generate(), keys::generate());
        let text = format!(
            r#"{{"keys":[{{"id":"ada","sha256":"{}"}},{{"id":"bob","sha256":"{}"}}]}}"#,
            ada.sha256, bob.sha256
        );
        let keys = ApiKeys::from_json(&text).unwrap();
        let gate =
            gate(Authenticator::Keys(keys.into()), Challenge::default(), TrustedProxies::default(), None);
        let first = admitted(&gate, &[&ada.token]).unwrap();
        assert!(Arc::ptr_eq(&first, &admitted(&gate, &[&ada.token]).unwrap()));
        assert_eq!(
            (first.id.as_str(), admitted(&gate, &[&bob.token]).unwrap().id.as_str()),
            ("key:ada", "key:bob")
        );
        for wrong in [&[][..], &["x"], &[&ada.token, &bob.token], &[&ada.token, &ada.token, &ada.token]] {
            assert_eq!(admitted(&gate, wrong).unwrap_err().status, 401, "{}", wrong.len());
        }
    }
}
