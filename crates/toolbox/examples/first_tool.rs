//! A first tool, a tool that reports progress, a resource and a prompt, called without a server.
//!
//! Run it with `cargo run -p trunkline-toolbox --example first_tool`. To serve the same toolbox
//! over HTTP or stdio, pass it to the `serve` crate: a toolbox is a `Handler`.

use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use trunkline_toolbox::{Context, Json, JsonSchema, Prompt, Resource, Tool, ToolError, Toolbox};

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first number
    a: i64,
    /// The second number
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn add(args: Add) -> Result<Json<Sum>, ToolError> {
    let sum = args.a.checked_add(args.b).ok_or_else(|| {
        ToolError::new("the sum is too large for 64 bits").hint("Use numbers closer to zero.")
    })?;
    Ok(Json(Sum { sum }))
}

#[derive(Deserialize, JsonSchema)]
struct Countdown {
    /// Where to start, at most 10
    #[schemars(range(min = 1, max = 10))]
    from: u64,
}

async fn countdown(cx: Context, args: Countdown) -> &'static str {
    for left in (1..=args.from).rev() {
        cx.progress(args.from - left, Some(args.from), format!("{left} …"));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    "lift-off"
}

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Whom to greet
    name: String,
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it does")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolbox = Toolbox::new("first-tool", "1.0")
        .instructions("Adds and counts.")
        .tool(
            Tool::new("add", add)
                .description("Adds two whole numbers")
                .read_only()
                .idempotent()
                .closed_world(),
        )
        .tool(Tool::new("countdown", countdown).description("Counts down to zero").read_only().closed_world())
        .resource(
            Resource::text("note://about", "about", "A toolbox to begin with").description("What this is"),
        )
        .prompt(Prompt::new("greet", |who: Greeting| async move { format!("Greet {} warmly.", who.name) }))
        .build()?;

    let me = toolbox.test();
    println!("{}", me.call("add", json!({"a": 19, "b": 23})).await.to_raw());
    println!("{}", me.call("add", json!({"a": "19"})).await.to_raw());
    let run = me.run_tool("countdown", json!({"from": 3})).await;
    for progress in run.progress() {
        println!("{}", progress.to_raw());
    }
    println!("{}", run.outcome?);
    println!("{}", me.run("resources/read", json!({"uri": "note://about"})).await.outcome?);
    println!(
        "{}",
        me.run("prompts/get", json!({"name": "greet", "arguments": {"name": "Ada"}})).await.outcome?
    );
    Ok(())
}
