#![expect(clippy::print_stdout, reason = "the program tells its address")]
//! A calculator over stdio, or over HTTP with an address as its only argument.

use serde::{Deserialize, Serialize};
use std::{env, error::Error, sync::Arc};
use tokio::sync::watch;
use trunkline_serve::{ServeOptions, Server, Shutdown, serve_stdio};
use trunkline_toolbox::{BuildError, Json, JsonSchema, Tool, ToolError, Toolbox};
use trunkline_transport::stdio::{standard_input, standard_output};

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
    let sum = args.a.checked_add(args.b);
    let sum = sum.ok_or_else(|| ToolError::new("the sum is too large").hint("Use smaller numbers."))?;
    Ok(Json(Sum { sum }))
}

fn toolbox() -> Result<Toolbox, BuildError> {
    Toolbox::new("calculator", "1.0")
        .instructions("Use `add` for every sum.")
        .tool(
            Tool::new("add", add)
                .description("Adds two whole numbers")
                .read_only()
                .idempotent()
                .closed_world(),
        )
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let toolbox = Arc::new(toolbox()?);
    let options = ServeOptions::default();
    let Some(address) = env::args().nth(1) else {
        return Ok(serve_stdio(toolbox, options, standard_input(), standard_output()).await?);
    };
    let server = Server::bind(address.parse()?, toolbox, options).await?;
    println!("http://{}/mcp", server.address());
    let (stop, told) = watch::channel(Shutdown::Running);
    let serving = tokio::spawn(server.run(told));
    tokio::signal::ctrl_c().await?;
    // Calls in flight may finish.
    stop.send_replace(Shutdown::Drain);
    Ok(serving.await?)
}
