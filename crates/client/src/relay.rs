//! Relay: a call of somebody else's, passed on to a server that may be of another era.

use crate::{
    connection::Inner,
    conversation::Rounds,
    era::{Ask, Progress, strip_meta},
    switchboard::Standing,
    turns::Turn,
};
use trunkline_protocol::{
    Call, Era, Fault, FaultKind, Notification, Object, Raw, Revision,
    message::{
        Level, LogParams, TASKS_EXTENSION,
        meta::{CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_TOKEN},
    },
    method,
};

/// Whom a call is made for, and how what comes back must look.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) caller: Revision,
    /// The caller's progress token, which is not the one the server hears.
    token: Option<Raw>,
    /// The least severe log message that the caller wants.
    pub(crate) level: Option<Level>,
    /// Whether the caller follows tasks by itself.
    pub(crate) follows_tasks: bool,
    /// The turn that was taken for the call already.
    pub(crate) turn: Option<Turn>,
}

impl Relay {
    /// The request as it goes to this server, and what to remember for the way back.
    pub(crate) fn of(call: &Call, connection: &Inner) -> Result<(Ask, Rounds, Self), Fault> {
        let mut params = match call.params.as_ref().map(Raw::object) {
            None => Object::new(),
            Some(Some(params)) => params,
            Some(None) => {
                return Err(Fault::new(FaultKind::InvalidRequest, "`params` must be an object"));
            }
        };
        let meta = params.get("_meta").and_then(Raw::object).unwrap_or_default();
        let level: Option<String> = meta.get(LOG_LEVEL).and_then(|raw| raw.decode().ok());
        let extension = meta.get(CLIENT_CAPABILITIES).and_then(|raw| raw.member("extensions"));
        let relay = Self {
            caller: call.revision,
            token: meta.get(PROGRESS_TOKEN).cloned(),
            level: level.and_then(|level| level.parse().ok()),
            follows_tasks: extension.is_some_and(|map| map.member(TASKS_EXTENSION).is_some()),
            turn: None,
        };
        let server = connection.speech.era();
        match server {
            Era::Legacy => {
                if params.get("requestState").is_some() {
                    let fault = "`requestState` is not one that was given for this call";
                    return Err(Fault::new(FaultKind::InvalidRequest, fault));
                }
                params.remove("inputResponses");
                let modern = call.revision.era() == Era::Modern;
                if modern && matches!(call.method.as_ref(), method::TASKS_RESULT | method::TASKS_LIST) {
                    let fault = format!("`{}` does not exist in this revision", call.method);
                    return Err(Fault::new(FaultKind::NotAvailable, fault));
                }
                // A modern caller cannot ask for a task, and not every server can run one.
                if modern || !connection.runs_tasks() {
                    params.remove("task");
                }
                strip_meta(&mut params);
            }
            Era::Modern => {
                params.remove("task");
                params.set("_meta", relay.modern_meta(meta).to_raw());
            }
        }
        let rounds = if call.revision.era() == server { Rounds::PassedOn } else { Rounds::Driven };
        let mut ask = Ask::new(call.method.clone(), params);
        ask.progress = if relay.token.is_some() { Progress::Wanted } else { Progress::Unwanted };
        ask.standing = standing(&ask);
        Ok((ask, rounds, relay))
    }

    /// A caller of the legacy era cannot follow the tasks of a modern server; we do that, so we say that we can.
    fn modern_meta(&self, mut meta: Object) -> Object {
        meta.remove(PROGRESS_TOKEN);
        if self.caller.era() == Era::Legacy && !self.follows_tasks {
            let mut capabilities = meta.get(CLIENT_CAPABILITIES).and_then(Raw::object).unwrap_or_default();
            let mut extensions = capabilities.get("extensions").and_then(Raw::object).unwrap_or_default();
            extensions.set(TASKS_EXTENSION, Raw::empty_object());
            capabilities.set("extensions", extensions.to_raw());
            meta.set(CLIENT_CAPABILITIES, capabilities.to_raw());
        }
        meta
    }

    /// A notification of the call, as the caller may hear it; one that concerns everyone is given back.
    pub(crate) fn hear(&self, mut notification: Notification) -> Heard {
        match notification.method.as_ref() {
            method::PROGRESS => {
                let Some(token) = &self.token else { return Heard::Nothing };
                let params = notification.params.as_ref().and_then(Raw::object);
                notification.params = params.map(|mut params| {
                    params.set(PROGRESS_TOKEN, token.clone());
                    params.to_raw()
                });
                Heard::Part(notification)
            }
            method::MESSAGE if self.wants(&notification) => Heard::Part(notification),
            method::MESSAGE => Heard::Nothing,
            method::TOOLS_CHANGED
            | method::PROMPTS_CHANGED
            | method::RESOURCES_CHANGED
            | method::RESOURCE_UPDATED
            | method::TASK_STATUS
            | method::ELICITATION_COMPLETE => Heard::Everyone(notification),
            _ => Heard::Part(notification),
        }
    }

    /// What a legacy caller wants is known where its session is.
    fn wants(&self, notification: &Notification) -> bool {
        if self.caller.era() == Era::Legacy {
            return true;
        }
        let Some(least) = self.level else { return false };
        let params = notification.params.as_ref().and_then(|raw| raw.decode::<LogParams>().ok());
        params.and_then(|params| params.severity().ok()).is_none_or(|level| level >= least)
    }
}

/// What to do with a notification.
pub(crate) enum Heard {
    Part(Notification),
    Everyone(Notification),
    Nothing,
}

/// Whether a server may ask while this is under way.
fn standing(ask: &Ask) -> Standing {
    let named = |member: &str| ask.params.get(member).map_or("", Raw::as_str);
    match ask.method.as_ref() {
        method::TOOLS_CALL | method::PROMPTS_GET => Standing::Askable(named("name").into()),
        method::RESOURCES_READ => Standing::Askable(named("uri").into()),
        method::TASKS_RESULT => Standing::Askable(named("taskId").into()),
        // What it hears names it, so nothing else can be meant for it.
        method::LISTEN => Standing::Own,
        _ => Standing::Plain,
    }
}
