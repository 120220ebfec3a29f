//! Publisher: translates a server's own URIs and task ids in replies to the public ones of the
//! view.

use super::{TaskIds, UriMap};
use crate::catalog::Server;
use std::sync::Arc;
use trunkline_protocol::{Caller, Notification, Part, Raw, message::meta::RELATED_TASK, method};

/// Translates the parts of one reply.
#[derive(Debug, Clone)]
pub(crate) struct Publisher {
    server: Arc<Server>,
    caller: Arc<Caller>,
    /// The policy subject of the tool; task ids are bound to it.
    subject: Arc<str>,
    ids: Arc<TaskIds>,
    about: About,
}

/// The kind of result that is translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum About {
    Tool,
    Prompt,
    /// The requested URI of the resource, and the server's own.
    Read {
        public: String,
        inner: String,
    },
    /// An answer about one task.
    Task,
}

impl Publisher {
    /// `None` if nothing of this server is rewritten in this view, which is usual.
    pub(crate) fn new(
        server: &Arc<Server>,
        caller: &Arc<Caller>,
        subject: &str,
        ids: &Arc<TaskIds>,
    ) -> Option<Self> {
        let rewrites = server.makes_tasks() || !server.uris().is_empty();
        rewrites.then(|| Self::always(server, caller, subject, ids))
    }

    /// For a reply that must be rewritten even if the server has no rewritten URIs now.
    pub(crate) fn always(
        server: &Arc<Server>,
        caller: &Arc<Caller>,
        subject: &str,
        ids: &Arc<TaskIds>,
    ) -> Self {
        Self {
            server: Arc::clone(server),
            caller: Arc::clone(caller),
            subject: subject.into(),
            ids: Arc::clone(ids),
            about: About::Tool,
        }
    }

    pub(crate) fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn part(&self, part: Part) -> Part {
        match part {
            Part::Notification(notification) => Part::Notification(self.notification(notification)),
            Part::Question(mut question) => {
                if let Some(changed) = question.params.as_ref().and_then(|params| self.related(params)) {
                    question.params = Some(changed);
                }
                Part::Question(question)
            }
            Part::Final(Ok(result)) => Part::Final(Ok(self.result(&result))),
            other => other,
        }
    }

    /// The public id of a task of this server.
    pub(crate) fn task_id(&self, inner: &str) -> String {
        self.ids.seal(&self.caller.id, &self.subject, inner)
    }

    /// The server's own id of the task that a result starts.
    pub(crate) fn started(result: &Raw) -> Option<String> {
        let flat = || {
            result
                .member("resultType")
                .filter(|kind| kind.text().as_deref() == Some("task"))
                .map(|_| result.clone())
        };
        let task = flat().or_else(|| result.member("task").filter(Raw::is_object))?;
        task.member("taskId")?.text().map(std::borrow::Cow::into_owned)
    }

    fn notification(&self, mut notification: Notification) -> Notification {
        let Some(params) = &notification.params else { return notification };
        let mut changed = self.related(params);
        if matches!(notification.method.as_ref(), method::TASK_STATUS | method::TASK_CHANGED) {
            changed = self.with_task_id(changed.as_ref().unwrap_or(params)).or(changed);
        }
        if changed.is_some() {
            notification.params = changed;
        }
        notification
    }

    fn result(&self, result: &Raw) -> Raw {
        let uris = self.server.uris();
        let mut result = result.clone();
        if self.server.makes_tasks() {
            if matches!(self.about, About::Task) || Self::started(&result).is_some() {
                result = self.with_task_id(&result).unwrap_or(result);
            }
            result = self.related(&result).unwrap_or(result);
        }
        match &self.about {
            About::Tool => with_content(&result, "content", uris).unwrap_or(result),
            About::Prompt => with_messages(&result, uris).unwrap_or(result),
            About::Read { public, inner } => {
                let publish = |uri: &str| if uri == inner { Some(public.clone()) } else { uris.publish(uri) };
                each(&result, "contents", |contents| with_uri(contents, &publish)).unwrap_or(result)
            }
            About::Task => {
                let inside =
                    result.member("result").and_then(|inside| with_content(&inside, "content", uris));
                inside.and_then(|inside| result.with("result", &inside)).unwrap_or(result)
            }
        }
    }

    /// With public ids in `taskId` and `task.taskId`.
    fn with_task_id(&self, object: &Raw) -> Option<Raw> {
        if let Some(id) = object.member("taskId") {
            return object.with("taskId", &Raw::string(&self.task_id(&id.text()?)));
        }
        let task = object.member("task")?;
        let id = task.member("taskId")?;
        object.with("task", &task.with("taskId", &Raw::string(&self.task_id(&id.text()?)))?)
    }

    /// With a public id in `_meta`, which names the task of a message in revision 2025-11-25.
    fn related(&self, object: &Raw) -> Option<Raw> {
        if !self.server.makes_tasks() {
            return None;
        }
        let meta = object.member("_meta")?;
        let related = meta.member(RELATED_TASK)?;
        object.with("_meta", &meta.with(RELATED_TASK, &self.with_task_id(&related)?)?)
    }
}

/// Translates the URIs of content blocks; `None` if nothing changes.
fn with_content(result: &Raw, member: &str, uris: &UriMap) -> Option<Raw> {
    if uris.is_empty() {
        return None;
    }
    each(result, member, |block| with_block(block, uris))
}

fn with_messages(result: &Raw, uris: &UriMap) -> Option<Raw> {
    if uris.is_empty() {
        return None;
    }
    each(result, "messages", |message| {
        let block = with_block(&message.member("content")?, uris)?;
        message.with("content", &block)
    })
}

fn with_block(block: &Raw, uris: &UriMap) -> Option<Raw> {
    let publish = |uri: &str| uris.publish(uri);
    match block.member("type")?.text()?.as_ref() {
        "resource_link" => with_uri(block, &publish),
        "resource" => block.with("resource", &with_uri(&block.member("resource")?, &publish)?),
        _ => None,
    }
}

fn with_uri(object: &Raw, publish: &dyn Fn(&str) -> Option<String>) -> Option<Raw> {
    let uri = object.member("uri")?;
    object.with("uri", &Raw::string(&publish(&uri.text()?)?))
}

/// Changes items of an array; `None` if none changes.
fn each(object: &Raw, member: &str, change: impl Fn(&Raw) -> Option<Raw>) -> Option<Raw> {
    let items: Vec<Raw> = object.member(member)?.decode().ok()?;
    let changed: Vec<Option<Raw>> = items.iter().map(change).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let all = changed.iter().zip(&items).map(|(new, old)| new.as_ref().unwrap_or(old));
    object.with(member, &Raw::array(all))
}
