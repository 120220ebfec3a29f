//! Commands to a running gateway: stop, start and restart one server.

use super::{Running, approvals, explain};
use futures_util::future::{BoxFuture, FutureExt};
use http::StatusCode;
use serde_json::{Value, json};
use std::{fmt, sync::Arc, time::Duration};
use trunkline_gateway::{
    audit::Trail,
    limit::Rates,
    upstream::{Status, Upstream},
};
use trunkline_protocol::Caller;
use trunkline_serve::{Command, Control, Controlled};

/// Maximum time that a command waits until a server has started. Connecting has its own, shorter
/// limit.
const SETTLE: Duration = Duration::from_mins(2);

/// A command for one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Start,
    Stop,
    Restart,
}

impl Operation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Start, Self::Stop, Self::Restart].into_iter().find(|one| one.as_str() == word)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The commands below `/control/`, such as `SERVER/start`. A command to a server is recorded in
/// the audit trail before it is carried out; a decision about an approval, after it is stored.
pub(crate) fn control(running: Arc<Running>, trail: Option<Trail>, rates: Option<Arc<Rates>>) -> Control {
    approvals::record(&running.gateway, trail.as_ref());
    Arc::new(move |command: Command<'_>| match running.accept(&command.caller, command.path) {
        _ if approvals::concerns(&command) => {
            approvals::command(&running.gateway, &running.environment, &command)
        }
        _ if command.path == explain::PATH => running.explainer().command(&command, rates.clone()),
        Ok((upstream, operation)) => {
            let name = upstream.name().clone();
            let caller = &command.caller;
            tracing::info!(server = %name, caller = caller.id, "{operation} by command");
            if let Some(trail) = &trail {
                trail.event(&format!("server-{operation}"), &caller.id, &format!("server `{name}`"));
            }
            running.clone().carry_out(upstream, operation)
        }
        Err(refused) => std::future::ready(refused).boxed(),
    })
}

impl Running {
    fn accept(&self, caller: &Caller, command: &str) -> Result<(Arc<Upstream>, Operation), Controlled> {
        if !self.gateway.may_operate(caller) {
            let error = "this needs a role with `\"operate\": true`";
            return Err(answer(StatusCode::FORBIDDEN, &json!({ "error": error })));
        }
        let unknown = |error: String| {
            let servers: Vec<String> = self.now().upstreams.keys().map(ToString::to_string).collect();
            answer(StatusCode::NOT_FOUND, &json!({"error": error, "servers": servers}))
        };
        let (server, operation) = command.split_once('/').unwrap_or((command, ""));
        let Some(operation) = Operation::of(operation) else {
            return Err(unknown(format!("there is no command `{operation}`")));
        };
        let upstream = self.upstreams().into_iter().find(|upstream| upstream.name().as_ref() == server);
        Ok((upstream.ok_or_else(|| unknown(format!("there is no server `{server}`")))?, operation))
    }

    fn carry_out(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        operation: Operation,
    ) -> BoxFuture<'static, Controlled> {
        // A task of its own: a client that disconnects must not leave a server half stopped.
        let task = tokio::spawn(async move {
            let drain = self.now().settings.limits.drain;
            if operation != Operation::Start {
                upstream.halt(drain).await;
            }
            if operation == Operation::Stop {
                return self.status_of(&upstream);
            }
            upstream.resume().await;
            upstream.settled(SETTLE).await;
            self.status_of(&upstream)
        });
        async move {
            match task.await {
                Ok(status) => answer(StatusCode::OK, &told(&status, operation)),
                Err(error) => answer(StatusCode::INTERNAL_SERVER_ERROR, &json!({"error": error.to_string()})),
            }
        }
        .boxed()
    }
}

fn told(status: &Status, operation: Operation) -> Value {
    json!({
        "server": status.name,
        "command": operation.as_str(),
        "state": status.state,
        "health": status.health,
        "lastError": status.last_error.as_ref().filter(|_| status.health.as_str() != "up"),
    })
}

pub(super) fn answer(status: StatusCode, body: &Value) -> Controlled {
    Controlled { status, body: body.to_string() }
}
