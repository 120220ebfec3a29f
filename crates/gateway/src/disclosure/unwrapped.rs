//! The layer that turns a call of `call_tool` into a call of the tool that it names. It is the
//! first layer, so all others see the real call: limits, audit, access log, traces.

use super::OwnTool;
use crate::gateway::Gateway;
use std::borrow::Cow;
use trunkline_protocol::{Call, Handler, Raw, Reply, method};

/// A handler whose calls of `call_tool` become calls of real tools.
#[derive(Debug)]
pub struct Unwrapped<H> {
    inner: H,
    gateway: Gateway,
}

impl<H: Handler> Unwrapped<H> {
    pub fn new(inner: H, gateway: Gateway) -> Self {
        Self { inner, gateway }
    }

    /// The parameters of the real call. `None` if the call is not one of `call_tool`, or names no
    /// tool; the gateway then says what is wrong.
    fn unwrapped(&self, call: &Call) -> Option<Raw> {
        let params = call.params.as_ref().filter(|_| call.method == method::TOOLS_CALL)?;
        let is_call = params.text_of("name").as_deref() == Some(OwnTool::Call.name());
        if !is_call || !self.gateway.searches(call.view.as_deref()) {
            return None;
        }
        let given = params.member("arguments")?;
        let name = given.text_of("name").map(Cow::into_owned)?;
        let arguments = given.member("arguments").filter(|arguments| !arguments.is_null());
        let mut members = params.object()?;
        members.set("name", Raw::string(&name));
        members.set("arguments", arguments.unwrap_or_else(Raw::empty_object));
        Some(members.to_raw())
    }
}

impl<H: Handler> Handler for Unwrapped<H> {
    fn call(&self, mut call: Call) -> Reply {
        if let Some(params) = self.unwrapped(&call) {
            call.params = Some(params);
        }
        self.inner.call(call)
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}
