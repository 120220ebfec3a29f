//! `subscriptions/listen` on a legacy server: resources are subscribed to one by one and counted, list changes come to everyone,
//! and word of a task's status becomes the whole of it.

use crate::{connection::Inner, era::Ask, handshake, tasks};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{runtime, sync::broadcast};
use trunkline_protocol::{
    Call, Era, Fault, FaultKind, Notification, Object, Part, Raw, Reply,
    message::meta::{self, LOG_LEVEL},
    method,
};
use trunkline_resilience::timeout;

/// Resources that one listener may watch.
const MAX_URIS: usize = 1000;
/// Tasks that one listener may watch.
const MAX_TASKS: usize = 1000;
/// How long a server may take to agree to one of them.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many listeners watch each resource.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<HashMap<String, usize>>);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<String>,
    task_ids: Vec<String>,
}

/// One listener. Dropping it lets go of what it alone watched.
struct Listener {
    connection: Arc<Inner>,
    events: broadcast::Receiver<Arc<Notification>>,
    filter: Filter,
    /// Resources that were subscribed to for it.
    held: Vec<String>,
    /// A legacy client hears log messages that belong to no call here.
    logs: bool,
    /// Whether it declared that it can follow tasks.
    follows_tasks: bool,
    /// A legacy client may have tried what a modern one must not: a server that takes subscriptions and does not say so.
    tries: bool,
    stage: Stage,
}

enum Stage {
    Beginning,
    Listening(VecDeque<Notification>),
}

/// Listens for as long as the reply is there.
pub(crate) fn listen(connection: Arc<Inner>, call: &Call) -> Reply {
    let filter = call.params.as_ref().and_then(|params| params.member_as("notifications"));
    let listener = Listener {
        events: connection.link.events(),
        connection,
        filter: filter.unwrap_or_default(),
        held: Vec::new(),
        follows_tasks: tasks::follows_tasks(call.params.as_ref()),
        tries: call.revision.era() == Era::Legacy,
        logs: call.revision.era() == Era::Legacy && meta::get(call.params.as_ref(), LOG_LEVEL).is_some(),
        stage: Stage::Beginning,
    };
    Reply::new(stream::unfold(listener, |mut listener| async move {
        let part = listener.next().await;
        Some((part, listener))
    }))
}

impl Listener {
    async fn next(&mut self) -> Part {
        if let Stage::Beginning = self.stage {
            if let Err(fault) = self.connection.ready().await {
                return Part::Final(Err(fault));
            }
            self.begin().await;
            self.stage = Stage::Listening(VecDeque::new());
            let mut params = Object::new();
            params.set("notifications", self.agreed().to_raw());
            return Part::Notification(Notification::new(method::ACKNOWLEDGED, Some(params.to_raw())));
        }
        let mut loss = self.connection.link.board().watch_loss();
        loop {
            if let Stage::Listening(missed) = &mut self.stage
                && let Some(notification) = missed.pop_front()
            {
                return Part::Notification(self.lifted(notification).await);
            }
            let heard = tokio::select! {
                biased;
                event = self.events.recv() => Some(event),
                _ = loss.wait_for(Option::is_some) => None,
            };
            match heard {
                Some(Ok(notification)) if self.wants(&notification) => {
                    if notification.method == method::TOOLS_CHANGED {
                        self.connection.facts.forget();
                    }
                    return Part::Notification(self.lifted(Arc::unwrap_or_clone(notification)).await);
                }
                Some(Ok(_)) => {}
                Some(Err(broadcast::error::RecvError::Lagged(_))) => {
                    self.stage = Stage::Listening(self.everything());
                }
                Some(Err(broadcast::error::RecvError::Closed)) => return Part::Final(Err(gone())),
                None => {
                    let fault = loss.borrow().clone().unwrap_or_else(gone);
                    return Part::Final(Err(fault));
                }
            }
        }
    }

    /// Keeps of the wish what the server can do.
    async fn begin(&mut self) {
        let server = &self.connection.server;
        self.filter.tools_list_changed &= server.has_capability("tools.listChanged");
        self.filter.prompts_list_changed &= server.has_capability("prompts.listChanged");
        self.filter.resources_list_changed &= server.has_capability("resources.listChanged");
        if !self.follows_tasks || !server.has_capability("tasks") {
            self.filter.task_ids.clear();
        }
        self.filter.task_ids.truncate(MAX_TASKS);
        let mut uris = std::mem::take(&mut self.filter.resource_subscriptions);
        if !self.tries && !server.has_capability("resources.subscribe") {
            return;
        }
        uris.truncate(MAX_URIS);
        for uri in uris {
            if self.held.contains(&uri) {
                continue;
            }
            // Counted first: whoever else lets go meanwhile must not unsubscribe under us.
            self.held.push(uri.clone());
            if self.connection.watched.add(&uri) && !self.connection.subscribe(&uri).await {
                self.held.pop();
                self.connection.watched.remove(&uri);
                continue;
            }
            self.filter.resource_subscriptions.push(uri);
        }
    }

    fn agreed(&self) -> Object {
        let mut agreed = Object::new();
        let filter = &self.filter;
        let lists = [
            ("toolsListChanged", filter.tools_list_changed),
            ("promptsListChanged", filter.prompts_list_changed),
            ("resourcesListChanged", filter.resources_list_changed),
        ];
        for (name, _) in lists.into_iter().filter(|(_, on)| *on) {
            agreed.set(name, json!(true).into());
        }
        if !filter.resource_subscriptions.is_empty() {
            agreed.set("resourceSubscriptions", json!(filter.resource_subscriptions).into());
        }
        if !filter.task_ids.is_empty() {
            agreed.set("taskIds", json!(filter.task_ids).into());
        }
        agreed
    }

    fn wants(&self, notification: &Notification) -> bool {
        match notification.method.as_ref() {
            method::TOOLS_CHANGED => self.filter.tools_list_changed,
            method::PROMPTS_CHANGED => self.filter.prompts_list_changed,
            method::RESOURCES_CHANGED => self.filter.resources_list_changed,
            method::RESOURCE_UPDATED => {
                let uri: Option<String> = notification.params.as_ref().and_then(|p| p.member_as("uri"));
                // A server may report a part of what was subscribed to, such as a file in a folder.
                uri.is_some_and(|uri| {
                    self.filter.resource_subscriptions.iter().any(|wanted| uri.starts_with(wanted.as_str()))
                })
            }
            method::TASK_STATUS => task_of(notification).is_some_and(|id| self.filter.task_ids.contains(&id)),
            method::MESSAGE | method::ELICITATION_COMPLETE => self.logs,
            _ => false,
        }
    }

    /// As a modern listener hears it: the whole state of a task, where a legacy server told its status at most.
    async fn lifted(&self, notification: Notification) -> Notification {
        let task = (notification.method == method::TASK_STATUS).then(|| task_of(&notification)).flatten();
        let Some(id) = task else { return notification };
        match self.connection.whole_task(&id).await {
            Ok(task) => Notification::new(method::TASK_CHANGED, Some(task)),
            Err(fault) => {
                tracing::debug!(id, %fault, "a task that changed cannot be looked at");
                notification
            }
        }
    }

    /// Anything may have changed: all of it is told.
    fn everything(&self) -> VecDeque<Notification> {
        let lists = changes(&self.filter.resource_subscriptions).into_iter();
        let tasks = self
            .filter
            .task_ids
            .iter()
            .map(|id| Notification::new(method::TASK_STATUS, Some(json!({"taskId": id}).into())));
        lists.chain(tasks).filter(|one| self.wants(one)).collect()
    }
}

impl Inner {
    async fn subscribe(&self, uri: &str) -> bool {
        let answer = self.about(method::RESOURCES_SUBSCRIBE, uri).await;
        if let Err(why) = &answer {
            tracing::debug!(uri, why, "the server does not take a subscription");
        }
        answer.is_ok()
    }

    async fn about(&self, name: &'static str, uri: &str) -> Result<(), String> {
        let mut params = Object::new();
        params.set("uri", Raw::string(uri));
        let mut exchange = self.exchange(&Ask::new(name, params));
        match timeout(PATIENCE, handshake::answer(&mut exchange)).await {
            Some(Ok(Ok(_))) => Ok(()),
            Some(Ok(Err(error))) => Err(error.message),
            Some(Err(loss)) => Err(loss.fault.to_string()),
            None => Err("it does not answer".to_owned()),
        }
    }

    /// A new session knows nothing of what was watched, and what happened meanwhile was missed.
    pub(crate) async fn replay_subscriptions(&self) {
        let uris = self.watched.all();
        for uri in &uris {
            self.subscribe(uri).await;
        }
        for change in changes(&uris) {
            self.link.overhear(change);
        }
    }
}

/// The task that a notification is about.
fn task_of(notification: &Notification) -> Option<String> {
    notification.params.as_ref()?.member_as("taskId")
}

/// Everything that may have changed.
fn changes(uris: &[String]) -> Vec<Notification> {
    let lists = [method::TOOLS_CHANGED, method::PROMPTS_CHANGED, method::RESOURCES_CHANGED];
    let lists = lists.into_iter().map(|name| Notification::new(name, None));
    let resources =
        uris.iter().map(|uri| Notification::new(method::RESOURCE_UPDATED, Some(json!({"uri": uri}).into())));
    lists.chain(resources).collect()
}

impl Watched {
    /// Whether it is the first.
    fn add(&self, uri: &str) -> bool {
        let mut counts = self.counts();
        let count = counts.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Whether it was the last.
    fn remove(&self, uri: &str) -> bool {
        let mut counts = self.counts();
        let Some(count) = counts.get_mut(uri) else { return false };
        *count -= 1;
        let last = *count == 0;
        if last {
            counts.remove(uri);
        }
        last
    }

    fn all(&self) -> Vec<String> {
        self.counts().keys().cloned().collect()
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let unwatched: Vec<String> =
            self.held.drain(..).filter(|uri| self.connection.watched.remove(uri)).collect();
        let (false, Ok(runtime)) = (unwatched.is_empty(), runtime::Handle::try_current()) else { return };
        let connection = self.connection.clone();
        runtime.spawn(async move {
            for uri in unwatched {
                if let Err(why) = connection.about(method::RESOURCES_UNSUBSCRIBE, &uri).await {
                    tracing::debug!(uri, why, "could not unsubscribe");
                }
            }
        });
    }
}

fn gone() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the connection to the server is gone")
}
