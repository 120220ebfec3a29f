//! States: binds the `requestState` of a modern server to the call that got it.
//!
//! To a server all callers are one client, the gateway, and two servers may accept each other's
//! states, so neither can refuse a state that was given to another caller or for another server.
//! The gateway does: a state is sealed with a MAC over the caller, the server, the method, the
//! parameters that stay the same in every round, and its expiry. Nothing is stored.
//!
//! A state can be used again for the same call until it expires. The specification leaves single
//! use to the server, and a client whose response was lost must be able to repeat its request.

use super::seal::Seal;
use futures_util::StreamExt;
use ring::digest::{Context, SHA256};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Part, RareMember, Raw, Reply, ServerName, method};

/// Prefix of a sealed state.
const MARK: &str = "tls2.";
/// Most bytes of a server's state.
const MAX_STATE: usize = 256 * 1024;
/// Members of parameters that differ from round to round.
const PER_ROUND: [&str; 3] = ["_meta", "inputResponses", "requestState"];

static STATE: RareMember = RareMember::new("requestState");

/// The key of the seal, and how long a state is accepted.
#[derive(Clone)]
pub struct StateOptions {
    /// A secret that several processes share, so that each accepts the states of the others;
    /// `None` for a random key of this process.
    pub key: Option<Arc<[u8]>>,
    pub lifetime: Duration,
}

/// Seals and opens states.
#[derive(Debug)]
pub struct States {
    seal: Seal,
    lifetime: Duration,
}

/// The call that a state belongs to.
struct Bound {
    caller: Arc<Caller>,
    server: ServerName,
    method: String,
    /// The parameters, of which only the stable ones count.
    params: Option<Raw>,
}

impl Default for StateOptions {
    fn default() -> Self {
        Self { key: None, lifetime: Duration::from_hours(1) }
    }
}

impl States {
    pub fn new(options: &StateOptions) -> Self {
        let seal = options.key.as_deref().map_or_else(Seal::new, Seal::with_key);
        Self { seal, lifetime: options.lifetime }
    }

    /// Sends a call to a server with the server's own state, and seals the state that it returns.
    /// Names and URIs in the call are the server's own. A state that was not given for this call
    /// is refused.
    pub fn around(
        self: &Arc<Self>,
        server: &ServerName,
        mut call: Call,
        send: impl FnOnce(Call) -> Reply,
    ) -> Reply {
        if !is_concerned(&call) {
            return send(call);
        }
        let bound = Bound {
            caller: Arc::clone(&call.caller),
            server: server.clone(),
            method: call.method.clone().into_owned(),
            params: call.params.clone(),
        };
        match self.opened(&bound) {
            Ok(None) => {}
            Ok(Some(params)) => call.params = Some(params),
            Err(fault) => return Reply::ready(Err(fault)),
        }
        let states = Arc::clone(self);
        Reply::new(send(call).map(move |part| states.sealed(&bound, part)))
    }

    /// True if the call carries a state that this gateway sealed for an earlier round of it.
    pub(crate) fn continues(&self, server: &ServerName, call: &Call) -> bool {
        let has_state = call.params.as_ref().is_some_and(|params| STATE.of(params).is_some());
        has_state && {
            let bound = Bound {
                caller: Arc::clone(&call.caller),
                server: server.clone(),
                method: call.method.clone().into_owned(),
                params: call.params.clone(),
            };
            matches!(self.opened(&bound), Ok(Some(_)))
        }
    }

    /// The parameters with the server's own state; `None` if they have no state.
    fn opened(&self, bound: &Bound) -> Result<Option<Raw>, Fault> {
        let Some(params) = &bound.params else { return Ok(None) };
        let Some(state) = STATE.of(params) else { return Ok(None) };
        let invalid = |text: &str| Fault::new(FaultKind::InvalidRequest, text.to_owned());
        let text = state.text();
        let opened = text.as_deref().and_then(|text| self.open(bound, text));
        let (inner, expiry) =
            opened.ok_or_else(|| invalid("`requestState` is not one that was given for this call"))?;
        if expiry < now() {
            return Err(invalid("`requestState` has expired; call again without it"));
        }
        Ok(params.with(STATE.name(), &Raw::string(inner)))
    }

    /// A part of the reply, with its state bound to the call.
    fn sealed(&self, bound: &Bound, part: Part) -> Part {
        let Part::Final(Ok(result)) = &part else { return part };
        let Some(state) = STATE.of(result) else { return part };
        if result.text_of("resultType").as_deref() != Some("input_required") {
            return part;
        }
        let Some(state) = state.text() else { return part };
        if state.len() > MAX_STATE {
            let text = format!("the server's `requestState` is larger than {MAX_STATE} bytes");
            return Part::Final(Err(Fault::new(FaultKind::TooLarge, text)));
        }
        let sealed = Raw::string(&self.seal(bound, &state));
        result.with(STATE.name(), &sealed).map_or(part, |changed| Part::Final(Ok(changed)))
    }

    fn seal(&self, bound: &Bound, state: &str) -> String {
        let expiry = now().saturating_add(self.lifetime.as_secs());
        let tag = self.seal.tag(&[&bound.digest(), &expiry.to_le_bytes(), state.as_bytes()]);
        format!("{MARK}{expiry}.{tag}.{state}")
    }

    /// The server's state, and when it expires.
    fn open<'a>(&self, bound: &Bound, text: &'a str) -> Option<(&'a str, u64)> {
        let (expiry, rest) = text.strip_prefix(MARK)?.split_once('.')?;
        let (tag, state) = rest.split_once('.')?;
        let expiry: u64 = expiry.parse().ok()?;
        let fits = self.seal.fits(&[&bound.digest(), &expiry.to_le_bytes(), state.as_bytes()], tag);
        fits.then_some((state, expiry))
    }
}

impl Bound {
    /// The hash of what stays the same in every round of the call.
    fn digest(&self) -> Vec<u8> {
        let mut context = Context::new(&SHA256);
        let mut add = |part: &[u8]| {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        };
        add(self.caller.id.as_bytes());
        add(self.server.as_ref().as_bytes());
        add(self.method.as_bytes());
        let params = self.params.as_ref().and_then(Raw::object).unwrap_or_default();
        for (name, value) in params.iter().filter(|(name, _)| !PER_ROUND.contains(name)) {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        context.finish().as_ref().to_vec()
    }
}

/// True if a call may contain or return a state.
fn is_concerned(call: &Call) -> bool {
    matches!(call.method.as_ref(), method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ)
}

/// Seconds since 1970: other processes must agree about the expiry.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl fmt::Debug for StateOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateOptions").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(caller: &str, server: &str, params: &str) -> Bound {
        Bound {
            caller: Arc::new(Caller::named(caller)),
            server: server.parse().unwrap(),
            method: method::TOOLS_CALL.to_owned(),
            params: Some(Raw::parse(params.to_owned()).unwrap()),
        }
    }

    const STATE: &str = "a.b \u{e4}";

    #[test]
    fn m09_a_state_opens_for_its_own_call_only() {
        let states = States::new(&StateOptions::default());
        let call = r#"{"name":"x","arguments":{"a":1}}"#;
        let own = bound("key:ada", "one", call);
        let sealed = states.seal(&own, STATE);
        let retry =
            r#"{"name":"x","arguments":{"a":1},"_meta":{"m":1},"requestState":"s","inputResponses":{}}"#;
        for again in [call, retry] {
            let opened = states.open(&bound("key:ada", "one", again), &sealed);
            assert_eq!(opened.map(|(state, _)| state), Some(STATE));
        }
        for other in [
            bound("key:eve", "one", call),
            bound("key:ada", "two", call),
            bound("key:ada", "one", r#"{"name":"y","arguments":{"a":1}}"#),
            bound("key:ada", "one", r#"{"name":"x","arguments":{"a":2}}"#),
            Bound { method: method::PROMPTS_GET.to_owned(), ..bound("key:ada", "one", call) },
        ] {
            assert_eq!(states.open(&other, &sealed), None);
        }
        assert_eq!(states.open(&own, &format!("{sealed}x")), None);
        assert_eq!(states.open(&own, STATE), None);
        assert_eq!(States::new(&StateOptions::default()).open(&own, &sealed), None);
    }

    #[test]
    fn m09_a_state_above_the_limit_is_refused_with_a_clear_error() {
        let states = States::new(&StateOptions::default());
        let own = bound("local", "one", "{}");
        let asked = |length: usize| {
            let state = "s".repeat(length);
            let result = serde_json::json!({"resultType": "input_required", "requestState": state});
            states.sealed(&own, Part::Final(Ok(result.into())))
        };
        let Part::Final(Ok(result)) = asked(256 * 1024) else { panic!("the largest state is sealed") };
        let sealed = result.text_of("requestState").unwrap();
        assert_eq!(states.open(&own, &sealed).map(|(state, _)| state.len()), Some(256 * 1024));
        let Part::Final(Err(fault)) = asked(256 * 1024 + 1) else { panic!("a larger one is refused") };
        assert_eq!(fault.kind(), FaultKind::TooLarge);
        assert_eq!(fault.message(), "the server's `requestState` is larger than 262144 bytes");
    }

    #[test]
    fn m09_states_expire_and_processes_with_one_key_share_them() {
        let key: Arc<[u8]> = [7; 32].into();
        let options = StateOptions { key: Some(key), lifetime: Duration::from_mins(1) };
        let own = bound("local", "one", "{}");
        let sealed = States::new(&options).seal(&own, STATE);
        let other = States::new(&options);
        let (state, expiry) = other.open(&own, &sealed).unwrap();
        assert!(state == STATE && expiry >= now());
        let later = sealed.replace(&expiry.to_string(), &(expiry + 60).to_string());
        assert_eq!(other.open(&own, &later), None);
        let params = format!(r#"{{"requestState":{}}}"#, Raw::string(&sealed).as_str());
        let brought = bound("local", "one", &params);
        assert!(other.opened(&brought).unwrap().is_some());
        let stale = States { lifetime: Duration::ZERO, ..States::new(&options) };
        let old = Bound { params: Some(Raw::empty_object()), ..bound("local", "one", "{}") };
        let (past, tag) = (now() - 1, stale.seal.tag(&[&old.digest(), &(now() - 1).to_le_bytes(), b"s"]));
        let text = Raw::string(&format!("{MARK}{past}.{tag}.s"));
        let brought = bound("local", "one", &format!(r#"{{"requestState":{}}}"#, text.as_str()));
        assert!(stale.opened(&brought).unwrap_err().message().contains("expired"));
    }
}
