//! Subscriptions: one interface for legacy notifications and for modern `subscriptions/listen`.

use super::{Client, requests::one};
use crate::{conversation::Rounds, era::Ask, item_filter::ItemKind};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{
    sync::{broadcast, mpsc},
    task::AbortHandle,
};
use trunkline_protocol::{Era, Fault, Notification, Object, Part, message::TaskState, method};

/// Changes buffered for a slow subscriber.
const CHANGE_QUEUE: usize = 256;
/// Backoff before a stream that the server ended is opened again: first and longest pause.
const REOPEN: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// The changes to subscribe to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interest {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    /// Resources to report content changes of.
    pub uris: Vec<String>,
    /// Tasks of the extension to report status changes of.
    pub tasks: Vec<String>,
}

/// A change on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Tools,
    Prompts,
    Resources,
    Resource {
        uri: String,
    },
    Task(Box<TaskState>),
    /// Changes may have been missed: the stream broke and was opened again, or the subscriber was
    /// too slow.
    Missed,
}

/// A subscription; dropping it unsubscribes.
#[derive(Debug)]
pub struct Subscription {
    changes: mpsc::Receiver<Change>,
    task: AbortHandle,
    release: Option<Release>,
}

/// Number of subscriptions per resource of a legacy server.
#[derive(Debug, Default)]
pub(super) struct Counts(HashMap<String, usize>);

struct Release {
    client: Client,
    uris: Vec<String>,
}

impl Subscription {
    /// The next change; `None` after the connection has ended.
    pub async fn next(&mut self) -> Option<Change> {
        self.changes.recv().await
    }
}

impl Client {
    /// Subscribes. Returns once the server has agreed; no later change is missed.
    pub async fn subscribe(&self, interest: Interest) -> Result<Subscription, Fault> {
        for uri in &interest.uris {
            self.0.items.allow(ItemKind::Resource, uri)?;
        }
        match self.server().era() {
            Era::Legacy => self.subscribe_to_each(interest).await,
            Era::Modern => self.listen(interest).await,
        }
    }

    /// Legacy: subscribes to each resource; list changes are sent to every client anyway.
    async fn subscribe_to_each(&self, interest: Interest) -> Result<Subscription, Fault> {
        if !interest.uris.is_empty() {
            self.needs("resources.subscribe")?;
        }
        let events = self.0.connection.events();
        let mut release = Release { client: self.clone(), uris: Vec::new() };
        for uri in &interest.uris {
            self.send(Ask::new(method::RESOURCES_SUBSCRIBE, one("uri", uri))).await?;
            self.counts(|counts| *counts.0.entry(uri.clone()).or_default() += 1);
            release.uris.push(uri.clone());
        }
        let (sender, changes) = mpsc::channel(CHANGE_QUEUE);
        let task = tokio::spawn(forward(events, interest, sender)).abort_handle();
        Ok(Subscription { changes, task, release: Some(release) })
    }

    /// Modern: one long call whose notifications are the changes.
    async fn listen(&self, interest: Interest) -> Result<Subscription, Fault> {
        let (sender, changes) = mpsc::channel(CHANGE_QUEUE);
        let (ready, agreed) = tokio::sync::oneshot::channel();
        let listener = Listener { client: self.clone(), filter: filter_of(&interest), interest, sender };
        let task = tokio::spawn(listener.run(ready)).abort_handle();
        match agreed.await {
            Ok(Ok(())) => Ok(Subscription { changes, task, release: None }),
            Ok(Err(fault)) => Err(fault),
            Err(_) => Err(Fault::new(
                trunkline_protocol::FaultKind::ConnectionLost,
                "the connection ended before the server acknowledged the subscription",
            )),
        }
    }

    fn counts<T>(&self, act: impl FnOnce(&mut Counts) -> T) -> T {
        act(&mut self.0.subscribed.lock())
    }
}

struct Listener {
    client: Client,
    interest: Interest,
    filter: Object,
    sender: mpsc::Sender<Change>,
}

type Ready = tokio::sync::oneshot::Sender<Result<(), Fault>>;

impl Listener {
    /// Runs until the subscription is dropped. A stream that the server ends is opened again, and
    /// [`Change::Missed`] reports the gap.
    async fn run(self, ready: Ready) {
        let mut ready = Some(ready);
        let mut pause = REOPEN.0;
        loop {
            match self.once(&mut ready).await {
                Ended::Agreed => pause = REOPEN.0,
                Ended::Refused(fault) => {
                    if let Some(ready) = ready.take() {
                        drop(ready.send(Err(fault)));
                        return;
                    }
                    if self.client.state() != crate::State::Ready {
                        return;
                    }
                }
                Ended::Unwanted => return,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(REOPEN.1);
            if self.sender.send(Change::Missed).await.is_err() {
                return;
            }
        }
    }

    async fn once(&self, ready: &mut Option<Ready>) -> Ended {
        let ask = Ask::new(method::LISTEN, self.filter.clone());
        let mut reply = self.client.0.connection.ask(ask, Rounds::PassedOn, None);
        let mut agreed = false;
        loop {
            match reply.next().await {
                Some(Part::Notification(notification)) if notification.method == method::ACKNOWLEDGED => {
                    agreed = true;
                    if let Some(ready) = ready.take() {
                        drop(ready.send(Ok(())));
                    }
                }
                Some(Part::Notification(notification)) if notification.method == method::CANCELLED => {
                    return Ended::Agreed;
                }
                Some(Part::Notification(notification)) => {
                    let change = read_change(&notification, &self.interest);
                    self.client.0.connection.publish(notification);
                    if let Some(change) = change
                        && self.sender.send(change).await.is_err()
                    {
                        return Ended::Unwanted;
                    }
                }
                Some(Part::Question(_) | Part::Detach) => {}
                Some(Part::Final(Err(fault))) if !agreed => return Ended::Refused(fault),
                Some(Part::Final(_)) | None => return Ended::Agreed,
            }
        }
    }
}

/// The end of one stream of changes.
enum Ended {
    /// After the server had acknowledged it.
    Agreed,
    Refused(Fault),
    /// The subscription was dropped.
    Unwanted,
}

/// Forwards the changes of interest from all notifications of the server.
async fn forward(
    mut events: broadcast::Receiver<Arc<Notification>>,
    interest: Interest,
    sender: mpsc::Sender<Change>,
) {
    loop {
        let change = match events.recv().await {
            Ok(notification) => read_change(&notification, &interest),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::Missed),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if let Some(change) = change
            && sender.send(change).await.is_err()
        {
            return;
        }
    }
}

fn read_change(notification: &Notification, interest: &Interest) -> Option<Change> {
    let params = notification.params.as_ref();
    match notification.method.as_ref() {
        method::TOOLS_CHANGED => interest.tools.then_some(Change::Tools),
        method::PROMPTS_CHANGED => interest.prompts.then_some(Change::Prompts),
        method::RESOURCES_CHANGED => interest.resources.then_some(Change::Resources),
        method::RESOURCE_UPDATED => {
            let uri: String = params?.member_as("uri")?;
            // A server may report a part of what was subscribed to, such as a file in a folder.
            interest
                .uris
                .iter()
                .any(|wanted| uri.starts_with(wanted.as_str()))
                .then_some(Change::Resource { uri })
        }
        method::TASK_CHANGED | method::TASK_STATUS => {
            let state = TaskState::read(params?).ok()?;
            interest.tasks.contains(&state.id).then(|| Change::Task(Box::new(state)))
        }
        _ => None,
    }
}

/// The parameters of `subscriptions/listen`.
fn filter_of(interest: &Interest) -> Object {
    let mut filter = Object::new();
    let wanted = [
        ("toolsListChanged", interest.tools),
        ("promptsListChanged", interest.prompts),
        ("resourcesListChanged", interest.resources),
    ];
    for (name, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
        filter.set(name, serde_json::Value::from(true).into());
    }
    for (name, list) in [("resourceSubscriptions", &interest.uris), ("taskIds", &interest.tasks)] {
        if !list.is_empty() {
            filter.set(name, serde_json::Value::from(list.clone()).into());
        }
    }
    let mut params = Object::new();
    params.set("notifications", filter.to_raw());
    params
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.task.abort();
        if let (Some(release), Ok(runtime)) = (self.release.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(release.run());
        }
    }
}

impl Release {
    /// Unsubscribes from resources that no other subscription needs.
    async fn run(self) {
        for uri in &self.uris {
            let last = self.client.counts(|counts| {
                let count = counts.0.entry(uri.clone()).or_default();
                *count = count.saturating_sub(1);
                let last = *count == 0;
                if last {
                    counts.0.remove(uri);
                }
                last
            });
            if last
                && self.client.state() == crate::State::Ready
                && let Err(fault) =
                    self.client.send(Ask::new(method::RESOURCES_UNSUBSCRIBE, one("uri", uri))).await
            {
                tracing::debug!(%fault, uri, "could not unsubscribe");
            }
        }
    }
}

impl std::fmt::Debug for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Release").field("uris", &self.uris).finish_non_exhaustive()
    }
}
