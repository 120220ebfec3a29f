//! `subscriptions/listen` for a legacy server. Resources are subscribed to one by one, with a
//! reference count; list changes are filtered from the notifications that every client gets; and
//! a task status notification is completed to the whole task.

use crate::{connection::Inner, era::Ask, handshake, tasks};
use futures_util::stream;
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::{runtime, sync::broadcast};
use trunkline_protocol::{Call, Era, Fault, FaultKind, Notification, Object, Part, Raw, Reply, method};
use trunkline_resilience::timeout;

/// Limit of resources per listener.
const MAX_URIS: usize = 1000;
/// Limit of tasks per listener.
const MAX_TASKS: usize = 1000;
/// Timeout of one subscribe or unsubscribe request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Number of listeners per resource.
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

/// One listener. Dropping it unsubscribes from resources that no other listener watches.
struct Listener {
    connection: Arc<Inner>,
    events: broadcast::Receiver<Arc<Notification>>,
    filter: Filter,
    /// Resources that this listener is counted for in [`Watched`].
    counted: Vec<String>,
    /// True if log messages that belong to no call go to this listener (legacy clients only).
    logs: bool,
    /// True if the caller declared the tasks extension.
    follows_tasks: bool,
    /// True for a legacy client: it may subscribe even if the server does not declare
    /// `resources.subscribe`, because some servers accept that.
    ignores_capability: bool,
    stage: ListenStage,
}

enum ListenStage {
    Beginning,
    Listening(VecDeque<Notification>),
}

/// Listens until the reply is dropped.
pub(crate) fn listen(connection: Arc<Inner>, call: &Call) -> Reply {
    let filter = call.params.as_ref().and_then(|params| params.member_as("notifications"));
    let listener = Listener {
        events: connection.link.events(),
        connection,
        filter: filter.unwrap_or_default(),
        counted: Vec::new(),
        follows_tasks: tasks::follows_tasks(call.params.as_ref()),
        ignores_capability: call.revision.era() == Era::Legacy,
        logs: call.revision.era() == Era::Legacy,
        stage: ListenStage::Beginning,
    };
    Reply::new(stream::unfold(listener, |mut listener| async move {
        let part = listener.next().await;
        Some((part, listener))
    }))
}

impl Listener {
    async fn next(&mut self) -> Part {
        if let ListenStage::Beginning = self.stage {
            if let Err(fault) = self.connection.ready().await {
                return Part::Final(Err(fault));
            }
            self.begin().await;
            self.stage = ListenStage::Listening(VecDeque::new());
            let mut params = Object::new();
            params.set("notifications", self.agreed().to_raw());
            return Part::Notification(Notification::new(method::ACKNOWLEDGED, Some(params.to_raw())));
        }
        let mut loss = self.connection.link.board().watch_loss();
        loop {
            if let ListenStage::Listening(missed) = &mut self.stage
                && let Some(notification) = missed.pop_front()
            {
                return Part::Notification(self.lifted(notification).await);
            }
            let received = tokio::select! {
                biased;
                event = self.events.recv() => Some(event),
                _ = loss.wait_for(Option::is_some) => None,
            };
            match received {
                Some(Ok(notification)) if self.wants(&notification) => {
                    if notification.method == method::TOOLS_CHANGED {
                        self.connection.facts.forget();
                    }
                    return Part::Notification(self.lifted(Arc::unwrap_or_clone(notification)).await);
                }
                Some(Ok(_)) => {}
                Some(Err(broadcast::error::RecvError::Lagged(_))) => {
                    self.stage = ListenStage::Listening(self.everything());
                }
                Some(Err(broadcast::error::RecvError::Closed)) => return Part::Final(Err(gone())),
                None => {
                    let fault = loss.borrow().clone().unwrap_or_else(gone);
                    return Part::Final(Err(fault));
                }
            }
        }
    }

    /// Reduces the filter to what the server supports, and subscribes to the resources.
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
        if !self.ignores_capability && !server.has_capability("resources.subscribe") {
            return;
        }
        uris.truncate(MAX_URIS);
        for uri in uris {
            if self.counted.contains(&uri) {
                continue;
            }
            // Counted first, so that another listener that is dropped meanwhile does not
            // unsubscribe.
            self.counted.push(uri.clone());
            if self.connection.watched.add(&uri) && !self.connection.subscribe(&uri).await {
                self.counted.pop();
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
                // A server may report a part of what was subscribed to, such as a file in a
                // folder.
                uri.is_some_and(|uri| {
                    self.filter.resource_subscriptions.iter().any(|wanted| uri.starts_with(wanted.as_str()))
                })
            }
            method::TASK_STATUS => task_of(notification).is_some_and(|id| self.filter.task_ids.contains(&id)),
            method::MESSAGE | method::ELICITATION_COMPLETE => self.logs,
            _ => false,
        }
    }

    /// Converts a notification for a modern listener: a legacy task status becomes the whole task.
    async fn lifted(&self, notification: Notification) -> Notification {
        let task = (notification.method == method::TASK_STATUS).then(|| task_of(&notification)).flatten();
        let Some(id) = task else { return notification };
        match self.connection.whole_task(&id).await {
            Ok(task) => Notification::new(method::TASK_CHANGED, Some(task)),
            Err(fault) => {
                tracing::debug!(id, %fault, "could not read a task after its status changed");
                notification
            }
        }
    }

    /// A change notification for everything in the filter, after events were dropped.
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
        let answer = self.resource_request(method::RESOURCES_SUBSCRIBE, uri).await;
        if let Err(why) = &answer {
            tracing::debug!(uri, why, "the server refused a subscription");
        }
        answer.is_ok()
    }

    async fn resource_request(&self, name: &'static str, uri: &str) -> Result<(), String> {
        let mut params = Object::new();
        params.set("uri", Raw::string(uri));
        let mut exchange = self.exchange(&Ask::new(name, params));
        match timeout(TIMEOUT, handshake::answer(&mut exchange)).await {
            Some(Ok(Ok(_))) => Ok(()),
            Some(Ok(Err(error))) => Err(error.message),
            Some(Err(loss)) => Err(loss.fault.to_string()),
            None => Err("no answer in time".to_owned()),
        }
    }

    /// Subscribes again in a new session, and reports everything as changed, because changes in
    /// between were missed.
    pub(crate) async fn replay_subscriptions(&self) {
        let uris = self.watched.all();
        for uri in &uris {
            self.subscribe(uri).await;
        }
        for change in changes(&uris) {
            self.link.publish(change);
        }
    }
}

/// The task that a notification is about.
fn task_of(notification: &Notification) -> Option<String> {
    notification.params.as_ref()?.member_as("taskId")
}

/// Change notifications for all lists and for these resources.
fn changes(uris: &[String]) -> Vec<Notification> {
    let lists = [method::TOOLS_CHANGED, method::PROMPTS_CHANGED, method::RESOURCES_CHANGED];
    let lists = lists.into_iter().map(|name| Notification::new(name, None));
    let resources =
        uris.iter().map(|uri| Notification::new(method::RESOURCE_UPDATED, Some(json!({"uri": uri}).into())));
    lists.chain(resources).collect()
}

impl Watched {
    /// Returns true for the first listener of this resource.
    fn add(&self, uri: &str) -> bool {
        let mut counts = self.counts();
        let count = counts.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Returns true for the last listener of this resource.
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
        self.0.lock()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let unwatched: Vec<String> =
            self.counted.drain(..).filter(|uri| self.connection.watched.remove(uri)).collect();
        let (false, Ok(runtime)) = (unwatched.is_empty(), runtime::Handle::try_current()) else { return };
        let connection = self.connection.clone();
        runtime.spawn(async move {
            for uri in unwatched {
                if let Err(why) = connection.resource_request(method::RESOURCES_UNSUBSCRIBE, &uri).await {
                    tracing::debug!(uri, why, "could not unsubscribe");
                }
            }
        });
    }
}

fn gone() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the connection to the server is gone")
}
