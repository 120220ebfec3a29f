//! Executions as tasks of the extension: the same id, state, questions and result.

use super::is_final;
use crate::{
    execution::{
        Command, NotBegun, Viewer,
        record::{Owner, Record, State, record_key},
    },
    service::Service,
};
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use trunkline_protocol::{
    Call, Caller, Era, Fault, FaultKind, Object, Outcome, Raw, Reply,
    message::{
        TaskIdParams, UpdateTaskParams, declares_tasks,
        meta::{self, CLIENT_CAPABILITIES},
        tasks_needed,
    },
    method,
    time::iso_8601,
};
use trunkline_store::StoreError;

/// Answers a request about a task: here if it is an execution that the caller may see, by the
/// handler otherwise.
pub(crate) fn ask(service: &Arc<Service>, call: Call) -> Reply {
    let id = call.params.as_ref().and_then(|raw| raw.decode::<TaskIdParams>().ok());
    let Some(id) = id.map(|params| params.task_id).filter(|id| record_key(id).is_some()) else {
        return ask_handler(service, call);
    };
    let service = service.clone();
    Reply::from_future(async move {
        match find(&service, &call.caller, &id).await.map_err(|error| unavailable(&error))? {
            Some(record) => answer(&service, &call, record).await,
            None => ask_handler(&service, call).outcome().await,
        }
    })
}

/// Passes a request about a task on. If the task has ended by that, the execution that is linked
/// with it is told to look, so that it does not hold its slot until it expires.
fn ask_handler(service: &Arc<Service>, call: Call) -> Reply {
    let id = call.params.as_ref().and_then(|raw| raw.decode::<TaskIdParams>().ok());
    let Some(TaskIdParams { task_id: id, .. }) = id else { return service.handler.call(call) };
    let (executions, caller) = (service.executions.clone(), call.caller.clone());
    let is_cancel = call.method == method::TASKS_CANCEL;
    service.after_final(call, async move |result| {
        if (is_cancel || is_final(&result))
            && let Err(error) = executions.look_at_task(&caller, &id).await
        {
            tracing::warn!(%error, "the end of a task is not noted yet");
        }
        Ok(result)
    })
}

/// The execution with this id, if the caller may see it.
pub(super) async fn find(service: &Service, caller: &Caller, id: &str) -> Result<Option<Record>, StoreError> {
    service.executions.find(id, &viewer(service, caller)).await
}

pub(super) fn viewer(service: &Service, caller: &Caller) -> Viewer {
    Viewer { owner: Owner::of(caller), view: service.path.clone(), is_operator: false }
}

async fn answer(service: &Service, call: &Call, record: Record) -> Outcome {
    if !meta::get(call.params.as_ref(), CLIENT_CAPABILITIES).as_ref().is_some_and(declares_tasks) {
        return Err(tasks_needed());
    }
    match call.method.as_ref() {
        method::TASKS_CANCEL => tell(service, &record, &Command::Cancel).await?,
        method::TASKS_UPDATE => {
            let params = call.params.as_ref().and_then(|raw| raw.decode::<UpdateTaskParams>().ok());
            let params =
                params.filter(|params| params.input_responses.0.iter().all(|(_, it)| it.is_object()));
            let wrong = || Fault::new(FaultKind::InvalidRequest, "`inputResponses` must be objects by key");
            for (question, answer) in params.ok_or_else(wrong)?.input_responses.0.iter() {
                let (question, answer) = (question.to_owned(), answer.clone());
                let by = call.caller.id.clone();
                tell(service, &record, &Command::Answer { question, answer, by }).await?;
            }
        }
        _ => return current(service, record).await,
    }
    Ok(json!({"resultType": "complete"}).into())
}

async fn tell(service: &Service, record: &Record, command: &Command) -> Result<(), Fault> {
    if record.state.is_final() {
        return Ok(());
    }
    service.executions.command(record, command).await.map_err(refused)
}

/// An execution as a task, after a look at the handler's task behind it.
pub(super) async fn current(service: &Service, record: Record) -> Outcome {
    let looked = async { task(service, &service.executions.looked_at(record).await?).await };
    looked.await.map_err(|error| unavailable(&error))
}

/// An execution as a task of the tasks extension.
pub(super) async fn task(service: &Service, record: &Record) -> Result<Raw, StoreError> {
    let time = |millis: u64| iso_8601(UNIX_EPOCH + Duration::from_millis(millis));
    let retention = u64::try_from(service.executions.retention().as_millis()).unwrap_or(u64::MAX);
    let task = json!({
        "resultType": "complete",
        "taskId": record.id,
        "status": status(record.state),
        "createdAt": time(record.created),
        "lastUpdatedAt": time(record.updated),
        "ttlMs": record.deadline.saturating_sub(record.created).saturating_add(retention),
    });
    let mut task = Raw::from(task).object().unwrap_or_default();
    if record.state == State::Waiting {
        let mut requests = Object::new();
        for question in &record.questions {
            let mut request = Object::new();
            request.set("method", Raw::string(method::ELICIT));
            if let Some(params) = &question.params {
                request.set("params", params.clone());
            }
            requests.set(question.id.clone(), request.to_raw());
        }
        task.set("inputRequests", requests.to_raw());
    }
    if record.state.is_final() && record.state != State::Cancelled {
        match service.executions.end(record).await?.outcome() {
            Ok(result) => {
                // The result of a tool that failed is a result, too.
                task.set("status", Raw::string("completed"));
                task.set("result", result);
            }
            Err(fault) => {
                let error = fault.to_error(Era::Modern);
                task.set("statusMessage", Raw::string(&error.message));
                let shown = json!({"code": error.code, "message": error.message, "data": error.data});
                task.set("error", shown.into());
            }
        }
    }
    Ok(task.to_raw())
}

fn status(state: State) -> &'static str {
    match state {
        State::Queued | State::Running => "working",
        State::Waiting => "input_required",
        State::Done => "completed",
        State::Cancelled => "cancelled",
        State::Failed | State::Unknown => "failed",
    }
}

pub(super) fn unavailable(error: &StoreError) -> Fault {
    tracing::error!(%error, "the store failed");
    Fault::new(FaultKind::StoreUnavailable, "tasks cannot be stored or read now; try again later")
}

pub(super) fn refused(error: NotBegun) -> Fault {
    match error {
        NotBegun::Store(error) => unavailable(&error),
        NotBegun::Refused(fault) => fault,
        NotBegun::Key(reused) => Fault::new(FaultKind::InvalidRequest, reused.to_string()),
    }
}
