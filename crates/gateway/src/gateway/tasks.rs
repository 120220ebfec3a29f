//! Tasks: calls that outlive their answer. Clients see ids made by the gateway, which only the
//! caller that started the task can use.

use super::{Inner, call::publish, faults};
use crate::{
    catalog::{Catalog, Server},
    policy::Permit,
    rewrite::{About, Publisher},
    view::View,
};
use parking_lot::{Mutex, MutexGuard};
use std::{borrow::Cow, collections::VecDeque, sync::Arc};
use trunkline_protocol::{
    Call, Caller, Fault, FaultKind, Object, Raw, Reply,
    message::{
        declares_tasks,
        meta::{self, CLIENT_CAPABILITIES},
        next_cursor, tasks_needed,
    },
    method,
};

/// Most tasks whose owner is remembered; the oldest are evicted first and then no longer listed.
const MAX_STARTED: usize = 10_000;
/// Most pages of one server's task list that are read.
const MAX_PAGES: usize = 100;

/// The owner of each task. A server that several callers share lists the tasks of all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskOwners(Arc<Mutex<VecDeque<Started>>>);

#[derive(Debug)]
struct Started {
    caller: String,
    server: String,
    inner: String,
    public: String,
}

impl TaskOwners {
    pub(super) fn add(&self, publisher: &Publisher, inner: String) {
        let public = publisher.task_id(&inner);
        let started = Started {
            caller: publisher.caller().id.clone(),
            server: publisher.server().name().to_string(),
            inner,
            public,
        };
        let mut all = self.lock();
        if all.len() >= MAX_STARTED {
            all.pop_front();
        }
        all.push_back(started);
    }

    /// The public id of a task, if this caller started it.
    pub(super) fn public(&self, caller: &Caller, server: &Server, inner: &str) -> Option<String> {
        let all = self.lock();
        let own = |started: &&Started| {
            started.inner == inner && started.caller == caller.id && started.server == server.name().as_ref()
        };
        all.iter().rev().find(own).map(|started| started.public.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Started>> {
        self.0.lock()
    }
}

/// True if the client supports tasks. A call without capabilities is the gateway's own.
fn follows_tasks(call: &Call) -> bool {
    meta::get(call.params.as_ref(), CLIENT_CAPABILITIES).as_ref().is_none_or(declares_tasks)
}

/// A task that the caller may access.
pub(super) struct PermittedTask<'a> {
    pub(super) server: &'a Arc<Server>,
    pub(super) permit: Permit<'a>,
    pub(super) inner: String,
    pub(super) subject: String,
}

impl Inner {
    /// Finds a task. `None` also for a task of another caller, or of a tool that the caller may no
    /// longer use.
    pub(super) fn find_task<'a>(
        &self,
        catalog: &Catalog,
        view: &'a View,
        caller: &Caller,
        id: &str,
    ) -> Option<PermittedTask<'a>> {
        let opened = self.shared.ids.open(&caller.id, id)?;
        let server = view.server(opened.server())?;
        let permit = catalog.policy.permit_known(caller, server, &opened.subject)?;
        Some(PermittedTask { server, permit, inner: opened.inner, subject: opened.subject })
    }

    pub(super) fn ask_about_task(&self, catalog: &Catalog, view: &View, mut call: Call) -> Reply {
        if !follows_tasks(&call) {
            return Reply::ready(Err(tasks_needed()));
        }
        let id = call.params.as_ref().and_then(|params| params.member("taskId"));
        let Some(id) = id.as_ref().and_then(Raw::text).map(Cow::into_owned) else {
            return Reply::ready(Err(faults::missing("taskId")));
        };
        let Some(task) = self.find_task(catalog, view, &call.caller, &id) else {
            return Reply::ready(Err(faults::unknown("task", &id)));
        };
        let inner = Raw::string(&task.inner);
        call.params = call.params.and_then(|params| params.with("taskId", &inner));
        // `tasks/result` returns the result of the tool.
        let about = if call.method == method::TASKS_RESULT { About::Tool } else { About::Task };
        let publisher = Publisher::new(task.server, &call.caller, &task.subject, &self.shared.ids);
        publish(task.permit.call(call), publisher, about)
    }

    /// The tasks of all servers that this caller started.
    pub(super) fn list_tasks(self: &Arc<Self>, catalog: &Catalog, view: &Arc<View>, call: Call) -> Reply {
        let able = |server: &&Arc<Server>| server.makes_tasks();
        if !view.servers.iter().any(|server| able(&server)) {
            return Reply::ready(Err(faults::no_method(&call.method)));
        }
        if call
            .params
            .as_ref()
            .and_then(|params| params.member("cursor"))
            .is_some_and(|cursor| !cursor.is_null())
        {
            return Reply::ready(Err(faults::bad_cursor()));
        }
        let (inner, view, policy) = (Arc::clone(self), Arc::clone(view), Arc::clone(&catalog.policy));
        Reply::from_future(async move {
            let mut tasks = Vec::new();
            let mut answered = false;
            for server in view.servers.iter().filter(able) {
                let Some(permit) = policy.permit_contact(&call.caller, &view, server) else {
                    continue;
                };
                match tasks_of(permit, &call).await {
                    Ok(listed) => {
                        answered = true;
                        tasks.extend(
                            listed.iter().filter_map(|task| inner.own_task(&call.caller, server, task)),
                        );
                    }
                    Err(fault) if fault.kind() == FaultKind::NotAvailable => {}
                    Err(fault) => {
                        tracing::info!(server = %server.name(), %fault, "tasks could not be listed");
                    }
                }
            }
            if !answered {
                return Err(faults::no_method(&call.method));
            }
            let mut result = Object::new();
            result.set("tasks", Raw::array(&tasks));
            Ok(result.to_raw())
        })
    }

    /// A listed task under its public id, if this caller started it.
    fn own_task(&self, caller: &Caller, server: &Server, task: &Raw) -> Option<Raw> {
        let id = task.member("taskId")?;
        let public = self.shared.started.public(caller, server, &id.text()?)?;
        task.with("taskId", &Raw::string(&public))
    }
}

/// All tasks that a server lists, up to the limits.
async fn tasks_of(permit: Permit<'_>, call: &Call) -> Result<Vec<Raw>, Fault> {
    let mut all = Vec::new();
    let mut call = call.clone();
    for _ in 0..MAX_PAGES {
        let page = permit.call(call.clone()).outcome().await?;
        all.extend(page.member_as::<Vec<Raw>>("tasks").unwrap_or_default());
        let Some(cursor) = next_cursor(&page).filter(|_| all.len() < MAX_STARTED) else { break };
        let params = call.params.take().unwrap_or_else(Raw::empty_object);
        call.params = params.with("cursor", &Raw::string(&cursor));
    }
    Ok(all)
}
