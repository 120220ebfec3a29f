//! Tools that run as background tasks, for callers that support tasks.

use super::rounds::{accepted, user_name};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::sleep;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_toolbox::{Context, JsonSchema, TaskMode, Tool, ToolError, schemars};

/// The suite lets a task sleep for a minute and cancels it.
const LONGEST: u64 = 300;
/// Duration of the jobs that fail.
const JOB: Duration = Duration::from_secs(1);

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Compute {
    /// How long it takes
    #[schemars(range(max = LONGEST))]
    seconds: u64,
    /// What to call it
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Greet {
    /// Who is greeted
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Delete {
    /// The file that is not really deleted
    filename: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Confirm {
    /// Really?
    confirm: bool,
}

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("greet", |args: Greet| async move { format!("Hello, {}!", args.name) })
            .description("Greets at once"),
        Tool::new("slow_compute", slow_compute).description("Takes its time").task(TaskMode::Optional),
        Tool::new("failing_job", failing_job).description("Fails after a while").task(TaskMode::Required),
        Tool::new("protocol_error_job", protocol_error_job)
            .description("Ends with an error of the protocol")
            .task(TaskMode::Optional),
        Tool::new("confirm_delete", confirm_delete)
            .description("Asks before it deletes")
            .task(TaskMode::Optional),
        Tool::new("multi_input", multi_input).description("Asks two things at once").task(TaskMode::Optional),
        Tool::new("test_tool_with_task", asks_then_works)
            .description("Asks first, then goes on in the background")
            .task(TaskMode::OnDemand),
    ]
}

async fn slow_compute(args: Compute) -> String {
    sleep(Duration::from_secs(args.seconds)).await;
    format!("{} took {} s", args.label.as_deref().unwrap_or("It"), args.seconds)
}

async fn failing_job() -> Result<(), ToolError> {
    sleep(JOB).await;
    Err(ToolError::new("This job always fails").hint("There is nothing to be done about it"))
}

async fn protocol_error_job() -> Result<(), ToolError> {
    sleep(JOB).await;
    Err(Fault::new(FaultKind::Unavailable, "this job breaks the protocol on purpose").into())
}

async fn confirm_delete(cx: Context, args: Delete) -> Result<String, ToolError> {
    let question = format!("Delete {}?", args.filename);
    let answer = accepted(cx.question("confirm").elicit::<Confirm>(question).await?)?;
    Ok(format!("{} was {}", args.filename, if answer.confirm { "deleted" } else { "kept" }))
}

async fn multi_input(cx: Context) -> Result<String, ToolError> {
    let confirm = cx.question("confirm");
    let (name, confirm) = tokio::join!(user_name(&cx), confirm.elicit::<Confirm>("Go on?"));
    Ok(format!("{} said {}", name?, if accepted(confirm?)?.confirm { "yes" } else { "no" }))
}

async fn asks_then_works(cx: Context) -> Result<String, ToolError> {
    let name = user_name(&cx).await?;
    cx.become_task().await;
    sleep(JOB).await;
    Ok(format!("This took a while, {name}."))
}
