//! Relays a caller's call to a server that may be of the other era.

use crate::{
    connection::Inner,
    conversation::Rounds,
    era::{Ask, Progress, stripped},
    line_lock::LineGuard,
    meta_cache::ServerMeta,
    switchboard::Standing,
};
use std::sync::Arc;
use trunkline_protocol::{
    Call, Era, Fault, FaultKind, Notification, Object, Raw, Revision,
    message::{
        Level, LogParams, declares_tasks, follow_tasks,
        meta::{CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_TOKEN},
    },
    method,
};

/// The caller of a relayed call, and the form its reply must have.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) caller: Revision,
    /// The caller's progress token; the server gets another one.
    token: Option<Raw>,
    /// The least severe log message that the caller wants.
    pub(crate) level: Option<Level>,
    /// True if the caller polls tasks itself.
    pub(crate) follows_tasks: bool,
    /// The line lock, if it was acquired before the conversation began.
    pub(crate) guard: Option<LineGuard>,
}

impl Relay {
    /// The request in the form this server gets, and the relay for its reply.
    pub(crate) fn of(call: &Call, connection: &Inner) -> Result<(Ask, Rounds, Self), Fault> {
        let mut params = match call.params.as_ref().map(Raw::object) {
            None => Object::new(),
            Some(Some(params)) => params,
            Some(None) => {
                return Err(Fault::new(FaultKind::InvalidRequest, "`params` must be an object"));
            }
        };
        let given = params.get("_meta").cloned();
        let known = given.as_ref().and_then(|meta| connection.meta_cache.get(call.revision.era(), meta));
        let (meta, token) = known
            .map_or_else(|| read_meta(given.as_ref(), call.revision.era(), connection), |meta| (meta, None));
        let relay = Self {
            caller: call.revision,
            token,
            level: meta.level,
            follows_tasks: meta.follows_tasks,
            guard: None,
        };
        let server = connection.speech.era();
        match server {
            Era::Legacy => {
                if params.get("requestState").is_some() {
                    let fault = "`requestState` is not one that was given for this call";
                    return Err(Fault::new(FaultKind::InvalidRequest, fault));
                }
                if params.remove("inputResponses").is_some_and(|answers| !are_answers(&answers)) {
                    let fault = "`inputResponses` must be an object of objects";
                    return Err(Fault::new(FaultKind::InvalidRequest, fault));
                }
                let modern = call.revision.era() == Era::Modern;
                if modern && matches!(call.method.as_ref(), method::TASKS_RESULT | method::TASKS_LIST) {
                    let fault = format!("`{}` does not exist in this revision", call.method);
                    return Err(Fault::new(FaultKind::NotAvailable, fault));
                }
                // A modern caller cannot request a task, and not every server runs them.
                if modern || !connection.runs_tasks() {
                    params.remove("task");
                }
            }
            Era::Modern => {
                params.remove("task");
            }
        }
        match &meta.meta {
            Some(meta) => params.set("_meta", meta.clone()),
            None => {
                params.remove("_meta");
            }
        }
        let rounds = if call.revision.era() == server { Rounds::PassedOn } else { Rounds::Driven };
        let mut ask = Ask::new(call.method.clone(), params);
        ask.progress = if relay.token.is_some() { Progress::Wanted } else { Progress::Unwanted };
        // Over Streamable HTTP a modern server asks only within its answer.
        let may_ask = server == Era::Legacy || connection.link.is_shared();
        ask.standing = if may_ask { standing(&ask) } else { Standing::Plain };
        ask.meta = Some(meta);
        Ok((ask, rounds, relay))
    }

    /// Decides to whom a notification of the call goes.
    pub(crate) fn route(&self, mut notification: Notification) -> Routed {
        match notification.method.as_ref() {
            method::PROGRESS => {
                let Some(token) = &self.token else { return Routed::Dropped };
                let params = notification.params.as_ref().and_then(Raw::object);
                notification.params = params.map(|mut params| {
                    params.set(PROGRESS_TOKEN, token.clone());
                    params.to_raw()
                });
                Routed::Caller(notification)
            }
            method::MESSAGE if self.wants(&notification) => Routed::Caller(notification),
            method::MESSAGE => Routed::Dropped,
            method::TOOLS_CHANGED
            | method::PROMPTS_CHANGED
            | method::RESOURCES_CHANGED
            | method::RESOURCE_UPDATED
            | method::TASK_STATUS
            | method::ELICITATION_COMPLETE => Routed::AllListeners(notification),
            _ => Routed::Caller(notification),
        }
    }

    /// A legacy caller's log level is applied in its session, in `serve`.
    fn wants(&self, notification: &Notification) -> bool {
        if self.caller.era() == Era::Legacy {
            return true;
        }
        let Some(least) = self.level else { return false };
        let params = notification.params.as_ref().and_then(|raw| raw.decode::<LogParams>().ok());
        params.and_then(|params| params.severity().ok()).is_none_or(|level| level >= least)
    }
}

/// True if these `inputResponses` are valid. We check them, because a legacy server cannot.
fn are_answers(answers: &Raw) -> bool {
    answers.object().is_some_and(|answers| answers.iter().all(|(_, answer)| answer.is_object()))
}

/// Parses a `_meta` and rewrites it for this server; also returns the caller's progress token.
fn read_meta(given: Option<&Raw>, caller: Era, connection: &Inner) -> (Arc<ServerMeta>, Option<Raw>) {
    let members = given.and_then(Raw::object).unwrap_or_default();
    let level: Option<Level> =
        members.get(LOG_LEVEL).and_then(Raw::text).and_then(|level| level.parse().ok());
    let follows_tasks = members.get(CLIENT_CAPABILITIES).is_some_and(declares_tasks);
    let token = members.get(PROGRESS_TOKEN).cloned();
    let (meta, version) = match connection.speech.era() {
        Era::Legacy => (stripped(members.clone()), None),
        Era::Modern => {
            let mut meta = members.clone();
            meta.remove(PROGRESS_TOKEN);
            // A modern server logs nothing to a caller that names no level.
            if caller == Era::Legacy && level.is_none() {
                meta.set(LOG_LEVEL, Raw::string(Level::UNSET.as_str()));
            }
            if caller == Era::Legacy && !follows_tasks {
                // The client polls tasks for the caller, so it declares that it can.
                follow_tasks(&mut meta);
            }
            let (meta, version) = connection.speech.introduce(meta);
            (Some(meta), Some(version))
        }
    };
    let rewritten = Arc::new(ServerMeta { level, follows_tasks, meta, version });
    if let Some(given) = given {
        connection.meta_cache.insert(caller, given, &members, &rewritten);
    }
    (rewritten, token)
}

/// The recipient of a call's notification.
pub(crate) enum Routed {
    Caller(Notification),
    AllListeners(Notification),
    Dropped,
}

/// Tells if the server may ask questions while this request is in flight.
fn standing(ask: &Ask) -> Standing {
    let named = |member: &str| ask.params.get(member).map_or("", Raw::as_str);
    match ask.method.as_ref() {
        method::TOOLS_CALL | method::PROMPTS_GET => Standing::Askable(named("name").into()),
        method::RESOURCES_READ => Standing::Askable(named("uri").into()),
        method::TASKS_RESULT => Standing::Askable(named("taskId").into()),
        // Its notifications carry its id.
        method::LISTEN => Standing::Own,
        _ => Standing::Plain,
    }
}
