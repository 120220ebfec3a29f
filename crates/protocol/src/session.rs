//! Session: an open connection to one server, and the trait that opens it.
//!
//! The gateway depends only on these traits and not on a transport; `client` implements them.

use crate::{
    Caller, Fault, FaultKind, Handler, Notification, Raw, Revision,
    message::{TASKS_EXTENSION, meta, undeclare_tasks},
};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// Opens sessions with one server.
pub trait Connect: Send + Sync {
    /// Starts or connects to the server and sends it the identity of the client that the profile
    /// describes.
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>>;
}

/// An open session with a server. Its [`Handler`] accepts calls in the format of the newest
/// revision.
pub trait Session: Handler {
    /// The server's identity and capabilities, in the form of a `server/discover` result.
    fn introduction(&self) -> Raw;

    fn revision(&self) -> Revision;

    /// Calls `listener` with every notification that belongs to no call, until the session ends.
    fn on_event(&self, listener: Box<dyn Fn(Notification) + Send + Sync>);

    /// The tool that signs the caller in, if this session stands for a server that the caller has
    /// no login for. Such a session ends when there is one.
    fn sign_in_tool(&self) -> Option<&'static str> {
        None
    }

    /// Names of tools that the session offers beside those of the server. They are ours: nobody has
    /// to accept their definitions.
    fn own_tools(&self) -> &'static [&'static str] {
        &[]
    }

    /// Resolves with the reason when the session is lost.
    fn lost(&self) -> BoxFuture<'static, Fault>;

    /// Closes the session and waits until the server's process or HTTP session has ended.
    fn close(&self) -> BoxFuture<'static, ()>;
}

/// The reason for which a session could not be opened.
#[derive(Debug, Clone)]
pub struct ConnectError {
    pub fault: Fault,
    /// True if only a change of the configuration can help, for example if the program does not
    /// exist.
    pub permanent: bool,
}

impl From<Fault> for ConnectError {
    fn from(fault: Fault) -> Self {
        let permanent = matches!(
            fault.kind(),
            FaultKind::CannotStart
                | FaultKind::UrlInvalid
                | FaultKind::UrlRefused
                | FaultKind::Unauthorized
                | FaultKind::Forbidden
                | FaultKind::UnsupportedRevision
                | FaultKind::InvalidRequest
        );
        Self { fault, permanent }
    }
}

/// The client for which a session is opened. A legacy server learns the client's capabilities
/// once, so clients with different capabilities cannot share a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The caller's id.
    pub principal: String,
    /// The client's capabilities, in its own JSON text, without the tasks extension: a client of
    /// 2025-11-25 follows tasks by request, so its calls with and without tasks share a session.
    pub capabilities: String,
    /// The client's name and version, in its own JSON text, if given.
    pub client: Option<String>,
}

impl Profile {
    /// The profile of a call's client. `params` are those of the call, in the format of the newest
    /// revision.
    pub fn of(caller: &Caller, params: Option<&Raw>) -> Self {
        let (mut capabilities, mut client) = (None, None);
        let meta = params.and_then(|params| params.member("_meta"));
        for (name, value) in meta.iter().flat_map(Raw::members) {
            match name.as_ref() {
                meta::CLIENT_CAPABILITIES => capabilities = Some(without_tasks(text(value))),
                meta::CLIENT_INFO => client = Some(text(value)),
                _ => {}
            }
        }
        Self {
            principal: caller.id.clone(),
            capabilities: capabilities.unwrap_or_else(|| "{}".to_owned()),
            client,
        }
    }
}

fn without_tasks(capabilities: String) -> String {
    if !capabilities.contains(TASKS_EXTENSION) {
        return capabilities;
    }
    let Some(mut members) = Raw::parse(capabilities.clone()).ok().and_then(|raw| raw.object()) else {
        return capabilities;
    };
    undeclare_tasks(&mut members);
    members.to_raw().as_str().to_owned()
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_change_can_mend_is_permanent() {
        let permanent = |kind| ConnectError::from(Fault::new(kind, "")).permanent;
        assert!(permanent(FaultKind::CannotStart) && permanent(FaultKind::Unauthorized));
        for kind in
            [FaultKind::Overloaded, FaultKind::CannotConnect, FaultKind::Timeout, FaultKind::ServerExited]
        {
            assert!(!permanent(kind), "{kind:?}");
        }
    }

    #[test]
    fn a_call_with_a_task_has_the_profile_of_one_without() {
        let profile = |capabilities: serde_json::Value| {
            let params = serde_json::json!({"_meta": {meta::CLIENT_CAPABILITIES: capabilities}});
            Profile::of(&Caller::ourselves(), Some(&params.into()))
        };
        let with_task = profile(serde_json::json!({"roots": {}, "extensions": {TASKS_EXTENSION: {}}}));
        assert_eq!(with_task, profile(serde_json::json!({"roots": {}})));
        let other = profile(serde_json::json!({"extensions": {TASKS_EXTENSION: {}, "x": {}}}));
        assert_eq!(other, profile(serde_json::json!({"extensions": {"x": {}}})));
    }
}
