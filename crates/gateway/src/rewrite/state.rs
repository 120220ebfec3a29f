//! States: binds the `requestState` of a modern server to the caller that got it.
//!
//! To the server all callers are one client, the gateway, so it cannot bind a state to one of
//! them. The gateway does, without storing anything. The seal's key lives as long as the process.
//! The local caller is the only user of its process, so its states are not changed.

use super::seal::Seal;
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Part, RareMember, Raw, method};

/// Prefix of a sealed state.
const MARK: &str = "tls1.";

static STATE: RareMember = RareMember::new("requestState");

/// Seals and opens states.
#[derive(Debug)]
pub(crate) struct States(Seal);

impl States {
    pub(crate) fn new() -> Self {
        Self(Seal::new())
    }

    /// True if a call may contain or return a state, and is not from the local caller.
    pub(crate) fn concern(call: &Call) -> bool {
        matches!(call.method.as_ref(), method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ)
            && !Caller::is_local(&call.caller)
    }

    /// The call with the server's own state. A state that was not issued to this caller is
    /// refused.
    pub(crate) fn opened(&self, mut call: Call) -> Result<Call, Fault> {
        let Some(params) = &call.params else { return Ok(call) };
        let Some(state) = STATE.of(params) else { return Ok(call) };
        let inner = state.text().and_then(|state| self.open(&call.caller, &state).map(Raw::string));
        let inner = inner.ok_or_else(|| {
            let fault = "`requestState` is not one that was given for this call";
            Fault::new(FaultKind::InvalidRequest, fault)
        })?;
        call.params = params.with(STATE.name(), &inner);
        Ok(call)
    }

    /// A part of the reply, with its state bound to the caller.
    pub(crate) fn sealed(&self, caller: &Caller, part: Part) -> Part {
        let Part::Final(Ok(result)) = &part else { return part };
        let Some(state) = STATE.of(result) else { return part };
        if result.text_of("resultType").as_deref() != Some("input_required") {
            return part;
        }
        let sealed = state.text().map(|state| self.seal(caller, &state));
        let changed = sealed.and_then(|sealed| result.with(STATE.name(), &Raw::string(&sealed)));
        changed.map_or(part, |changed| Part::Final(Ok(changed)))
    }

    fn seal(&self, caller: &Caller, state: &str) -> String {
        format!("{MARK}{}.{state}", self.0.tag(&caller.id, state.as_bytes()))
    }

    fn open<'a>(&self, caller: &Caller, text: &'a str) -> Option<&'a str> {
        let (tag, state) = text.strip_prefix(MARK)?.split_once('.')?;
        self.0.fits(&caller.id, state.as_bytes(), tag).then_some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(id: &str) -> Caller {
        Caller { id: id.to_owned(), roles: Vec::new(), scopes: Vec::new() }
    }

    #[test]
    fn a_state_opens_for_its_caller_only_and_unchanged() {
        let states = States::new();
        let (ada, eve) = (caller("ada"), caller("eve"));
        let sealed = states.seal(&ada, "a.b \u{e4}");
        assert_eq!(states.open(&ada, &sealed), Some("a.b \u{e4}"));
        assert_eq!(states.open(&eve, &sealed), None);
        assert_eq!(states.open(&ada, &format!("{sealed}x")), None);
        assert_eq!(states.open(&ada, "a.b \u{e4}"), None);
        assert_eq!(States::new().open(&ada, &sealed), None);
    }
}
