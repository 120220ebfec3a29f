//! Runs a server with the faults of a script: `faulty-server SCRIPT [--http ADDRESS]`, where
//! SCRIPT is a file or JSON text.

use std::{error::Error, process::ExitCode};
use trunkline_testkit::faulty::{Script, serve, serve_http};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(_) => ExitCode::FAILURE,
    }
}

async fn run() -> Result<i32, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let script = words.next().unwrap_or_else(|| "{}".to_owned());
    let text = if script.trim_start().starts_with('{') { script } else { std::fs::read_to_string(script)? };
    let script = Script::parse(&text)?;
    if words.next().as_deref() == Some("--http") {
        let address = words.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
        let listener = tokio::net::TcpListener::bind(address).await?;
        serve_http(script, listener).await?;
        return Ok(0);
    }
    let code = serve(script, tokio::io::stdin(), tokio::io::stdout()).await?;
    // Exit at once: dropping the runtime would block on the pending read of standard input.
    std::process::exit(code)
}
