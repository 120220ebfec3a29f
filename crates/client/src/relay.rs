//! Relay: a call of somebody else's, passed on to a server that may be of another era.

use crate::{
    connection::Inner,
    conversation::Rounds,
    era::{Ask, Progress, stripped},
    switchboard::Standing,
    turns::Turn,
    wardrobe::Worn,
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
        let given = params.get("_meta").cloned();
        let known = given.as_ref().and_then(|meta| connection.wardrobe.find(call.revision.era(), meta));
        let (worn, token) = known
            .map_or_else(|| read_meta(given.as_ref(), call.revision.era(), connection), |worn| (worn, None));
        let relay = Self {
            caller: call.revision,
            token,
            level: worn.level,
            follows_tasks: worn.follows_tasks,
            turn: None,
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
                // A modern caller cannot ask for a task, and not every server can run one.
                if modern || !connection.runs_tasks() {
                    params.remove("task");
                }
            }
            Era::Modern => {
                params.remove("task");
            }
        }
        match &worn.meta {
            Some(meta) => params.set("_meta", meta.clone()),
            None => {
                params.remove("_meta");
            }
        }
        let rounds = if call.revision.era() == server { Rounds::PassedOn } else { Rounds::Driven };
        let mut ask = Ask::new(call.method.clone(), params);
        ask.progress = if relay.token.is_some() { Progress::Wanted } else { Progress::Unwanted };
        // A modern server has nothing to ask on a line that only its answer comes over.
        let may_ask = server == Era::Legacy || connection.link.is_shared();
        ask.standing = if may_ask { standing(&ask) } else { Standing::Plain };
        ask.worn = Some(worn);
        Ok((ask, rounds, relay))
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

/// Whether this is what a modern client may answer with; a legacy server cannot judge it.
fn are_answers(answers: &Raw) -> bool {
    answers.object().is_some_and(|answers| answers.iter().all(|(_, answer)| answer.is_object()))
}

/// Reads a `_meta` and writes it for this server; besides, the caller's progress token, if it has one.
fn read_meta(given: Option<&Raw>, caller: Era, connection: &Inner) -> (Arc<Worn>, Option<Raw>) {
    let members = given.and_then(Raw::object).unwrap_or_default();
    let level = members.get(LOG_LEVEL).and_then(Raw::text).and_then(|level| level.parse().ok());
    let follows_tasks = members.get(CLIENT_CAPABILITIES).is_some_and(declares_tasks);
    let token = members.get(PROGRESS_TOKEN).cloned();
    let (meta, version) = match connection.speech.era() {
        Era::Legacy => (stripped(members.clone()), None),
        Era::Modern => {
            let mut meta = members.clone();
            meta.remove(PROGRESS_TOKEN);
            if caller == Era::Legacy && !follows_tasks {
                // It cannot follow the tasks of a modern server; we do that, so we say that we can.
                follow_tasks(&mut meta);
            }
            let (meta, version) = connection.speech.introduce(meta);
            (Some(meta), Some(version))
        }
    };
    let worn = Arc::new(Worn { level, follows_tasks, meta, version });
    if let Some(given) = given {
        connection.wardrobe.keep(caller, given, &members, &worn);
    }
    (worn, token)
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
