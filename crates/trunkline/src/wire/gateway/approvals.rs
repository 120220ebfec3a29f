//! Approvals: built from settings, and decided by commands below `/control/approvals`.

use super::operate::answer;
use crate::{environment::Environment, wire::operator};
use futures_util::future::{BoxFuture, FutureExt};
use http::StatusCode;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use trunkline_config::{Settings, StorePlace, parse_time};
use trunkline_gateway::{
    Gateway,
    approval::{ApprovalOptions, Approvals, Decision, NotDecided, Scope},
    audit::Trail,
};
use trunkline_protocol::Caller;
use trunkline_serve::{Command, Controlled};
use trunkline_store::Store;

/// Path of the commands, below `/control/`.
pub(crate) const PATH: &str = "approvals";
/// Longest time that an agreement can hold.
const LONGEST: Duration = Duration::from_hours(30 * 24);
/// Most characters of a note.
const MAX_NOTE: usize = 1000;

/// True if operators can reach this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operators {
    Reachable,
    /// It has no HTTP endpoint.
    Unreachable,
}

pub(crate) fn new(settings: &Settings, store: Arc<dyn Store>, operators: Operators) -> Approvals {
    Approvals::new(ApprovalOptions {
        store,
        timeout: settings.limits.approval_timeout,
        most: settings.limits.approvals as usize,
        reachable: operators == Operators::Reachable,
        alone: !matches!(settings.store, StorePlace::Url(_)),
    })
}

/// The request of a command.
enum Wanted {
    List,
    Show(String),
    Decide(String, Decision),
}

/// True if the command is one about approvals.
pub(super) fn concerns(command: &Command<'_>) -> bool {
    command.path.split('/').next() == Some(PATH)
}

/// Records the questions and decisions of a gateway in its trail.
pub(super) fn record(gateway: &Gateway, trail: Option<&Trail>) {
    if let (Some(approvals), Some(trail)) = (gateway.approvals(), trail.cloned()) {
        approvals.record_with(Arc::new(move |what, who, detail| trail.event(what, who, detail)));
    }
}

/// Carries out `approvals`, `approvals/ID`, `approvals/ID/approve` or `approvals/ID/deny`.
pub(super) fn command(
    gateway: &Gateway,
    environment: &Environment,
    command: &Command<'_>,
) -> BoxFuture<'static, Controlled> {
    let caller = command.caller.clone();
    let ready = |status, body: Value| std::future::ready(answer(status, &body)).boxed();
    if !gateway.may_operate(&caller) {
        let error = "this needs a role with `\"operate\": true`";
        return ready(StatusCode::FORBIDDEN, json!({ "error": error }));
    }
    let Some(approvals) = gateway.approvals().cloned() else {
        return ready(StatusCode::NOT_FOUND, json!({"error": "this gateway asks nobody"}));
    };
    let wanted = match wanted(command) {
        Ok(wanted) => wanted,
        Err(error) => return ready(StatusCode::BAD_REQUEST, json!({ "error": error })),
    };
    // Without authentication everybody is the local caller: the operator has to
    // prove to be one.
    let is_proven = operator::is_proven(command.headers, operator::secret(environment).as_deref());
    if matches!(wanted, Wanted::Decide(..)) && Caller::is_local(&caller) && !is_proven {
        let error = "the operator's secret is missing: use `trunkline approvals` as the user of the gateway";
        return ready(StatusCode::FORBIDDEN, json!({ "error": error }));
    }
    let is_proven = is_proven && Caller::is_local(&caller);
    async move { carry_out(&approvals, &caller.id, is_proven, wanted).await }.boxed()
}

async fn carry_out(approvals: &Approvals, who: &str, is_proven: bool, wanted: Wanted) -> Controlled {
    let done = match wanted {
        Wanted::List => match approvals.list().await {
            Ok(all) => Ok(json!({ "approvals": all })),
            Err(error) => Err(NotDecided::Store(error)),
        },
        Wanted::Show(id) => approvals.show(&id).await.map(|approval| json!(approval)),
        Wanted::Decide(id, decision) => {
            approvals.decide(&id, who, is_proven, &decision).await.map(|approval| json!(approval))
        }
    };
    match done {
        Ok(body) => answer(StatusCode::OK, &body),
        Err(refused) => {
            let status = match &refused {
                NotDecided::Unknown(_) => StatusCode::NOT_FOUND,
                NotDecided::NoSession => StatusCode::BAD_REQUEST,
                NotDecided::Over(_) => StatusCode::CONFLICT,
                NotDecided::OwnCall => StatusCode::FORBIDDEN,
                NotDecided::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            answer(status, &json!({ "error": refused.to_string() }))
        }
    }
}

fn wanted(command: &Command<'_>) -> Result<Wanted, String> {
    let rest = command.path.strip_prefix(PATH).unwrap_or_default().trim_start_matches('/');
    if rest.is_empty() {
        return Ok(Wanted::List);
    }
    let (id, act) = rest.split_once('/').unwrap_or((rest, ""));
    let agrees = match act {
        "" => return Ok(Wanted::Show(id.to_owned())),
        "approve" => true,
        "deny" => false,
        other => return Err(format!("there is no command `{other}`")),
    };
    let (mut scope, mut lasting, mut note) = (None, None, None);
    for (name, value) in form_urlencoded::parse(command.query.unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "for" => scope = Some(value.into_owned()),
            "lasting" => {
                let time = parse_time(&value).filter(|time| *time <= LONGEST && !time.is_zero());
                lasting = Some(time.ok_or_else(|| format!("`{value}` is not a time up to 30d"))?);
            }
            "note" => note = Some(value.chars().take(MAX_NOTE).collect()),
            other => return Err(format!("unknown parameter `{other}`")),
        }
    }
    let scope = match (scope.as_deref(), lasting) {
        (None | Some("once"), None) => Scope::Once,
        (Some("session"), None) => Scope::Session,
        (Some("caller"), Some(lasting)) => Scope::Caller(lasting),
        (Some("tool"), Some(lasting)) => Scope::Tool(lasting),
        _ => {
            let error = "`for` is `once`, `session`, or `caller` or `tool` with `lasting`";
            return Err(error.to_owned());
        }
    };
    Ok(Wanted::Decide(id.to_owned(), Decision { agrees, scope, note }))
}
