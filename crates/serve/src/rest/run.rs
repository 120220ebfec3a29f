//! One running call of a tool, as a series of events.

use super::{
    answer::{Execution, Finished, RestError},
    queue::{ExecutionQueue, Priority, Slot},
};
use crate::service::{Service, plain_meta};
use ::http::StatusCode;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use trunkline_protocol::{
    Call, Caller, Notification, Object, Part, Raw, Reply,
    message::meta::{PARTIAL, PROGRESS_TOKEN},
    method,
};
use trunkline_resilience::timeout;

/// What the caller asked for.
pub(super) struct Order {
    pub(super) tool: String,
    pub(super) arguments: Option<Raw>,
    pub(super) limit: Duration,
    pub(super) priority: Priority,
}

/// Dropping it cancels the call.
pub(super) struct Run {
    pub(super) execution: Execution,
    limit: Duration,
    stage: Stage,
}

enum Stage {
    Queued { queue: Arc<ExecutionQueue>, priority: Priority, service: Arc<Service>, call: Box<Call> },
    Running { reply: Reply, _slot: Slot },
    Over,
}

pub(super) enum RunEvent {
    Progress(Raw),
    Partial(Raw),
    Message(Raw),
    Finished(Finished),
}

impl Run {
    pub(super) fn new(service: &Arc<Service>, caller: Arc<Caller>, order: &Order) -> Self {
        let execution = Execution { id: crate::era::unguessable(), started: Instant::now() };
        let mut call = Call::new(method::TOOLS_CALL, Some(params(order, &execution.id)));
        call.caller = caller;
        call.deadline = Some(execution.started + order.limit);
        let stage = Stage::Queued {
            queue: service.executions.clone(),
            priority: order.priority,
            service: service.clone(),
            call: Box::new(call),
        };
        Self { execution, limit: order.limit, stage }
    }

    /// The next event; `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<RunEvent> {
        if matches!(self.stage, Stage::Over) {
            return None;
        }
        let left = self.limit.saturating_sub(self.execution.started.elapsed());
        let event = timeout(left, self.advance()).await;
        Some(event.unwrap_or_else(|| self.out_of_time()))
    }

    /// All events up to the last one.
    pub(super) async fn finish(mut self) -> Finished {
        loop {
            if let Some(RunEvent::Finished(finished)) = self.next().await {
                return finished;
            }
        }
    }

    async fn advance(&mut self) -> RunEvent {
        if let Stage::Queued { queue, priority, service, call } = &self.stage {
            let Ok(slot) = queue.slot(*priority).await else { return self.over(Err(queue_full())) };
            let reply = service.handler.call((**call).clone());
            self.stage = Stage::Running { reply, _slot: slot };
        }
        loop {
            let Stage::Running { reply, .. } = &mut self.stage else { return self.over(Err(lost())) };
            match reply.next().await {
                Some(Part::Notification(notification)) => {
                    if let Some(event) = event_of(&notification) {
                        return event;
                    }
                }
                Some(Part::Final(outcome)) => {
                    return self.over(outcome.map_err(|fault| RestError::of_fault(&fault)));
                }
                // A dropped question is declined: nobody can answer it here, and the call said so
                // by declaring no capability.
                Some(Part::Question(_) | Part::Detach) => {}
                None => return self.over(Err(lost())),
            }
        }
    }

    fn over(&mut self, outcome: Result<Raw, RestError>) -> RunEvent {
        self.stage = Stage::Over;
        RunEvent::Finished(self.execution.finished(outcome))
    }

    fn out_of_time(&mut self) -> RunEvent {
        let place = if matches!(self.stage, Stage::Queued { .. }) { "the queue" } else { "the tool" };
        let text = format!("the limit of {} ms passed in {place}", self.limit.as_millis());
        self.over(Err(RestError::new(StatusCode::GATEWAY_TIMEOUT, "TIMEOUT_ERROR", text)))
    }
}

fn params(order: &Order, id: &str) -> Raw {
    let mut params = Object::new();
    params.set("name", Raw::string(&order.tool));
    if let Some(arguments) = &order.arguments {
        params.set("arguments", arguments.clone());
    }
    let mut meta = plain_meta();
    meta.set(PROGRESS_TOKEN, Raw::string(id));
    params.set("_meta", meta.to_raw());
    params.to_raw()
}

fn event_of(notification: &Notification) -> Option<RunEvent> {
    let params = notification.params.as_ref()?;
    match notification.method.as_ref() {
        method::PROGRESS => {
            let partial = params.member("_meta").and_then(|meta| meta.member(PARTIAL));
            if let Some(part) = partial {
                return Some(RunEvent::Partial(part));
            }
            let mut progress = params.object()?;
            progress.remove(PROGRESS_TOKEN);
            Some(RunEvent::Progress(progress.to_raw()))
        }
        method::MESSAGE => Some(RunEvent::Message(params.clone())),
        _ => None,
    }
}

fn queue_full() -> RestError {
    let text = "too many executions wait already; try again later";
    RestError::new(StatusCode::SERVICE_UNAVAILABLE, "RATE_LIMIT_ERROR", text).retry_after(1)
}

fn lost() -> RestError {
    RestError::new(StatusCode::BAD_GATEWAY, "EXECUTION_ERROR", "the call ended without a result")
}
