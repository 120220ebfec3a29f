//! `auth bench`: a fake authorization server and a protected MCP server, to try clients with.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    runtime,
    stop::Stop,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::json;
use trunkline_oauth::bench::{self, Bench, BenchOptions, FAILURES};

/// Start a fake authorization server and a protected MCP server on this machine
///
/// Its authorization page asks nobody: it signs in at once, as `tester` or as the user named by the
/// parameter `bench_user` of the page's address. Each request is printed, without tokens. With
/// `--fail` the servers show a failure, to see how a client takes it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Port of the MCP server [default: a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Show this failure; may be repeated
    #[arg(long = "fail", value_name = "FAILURE", value_parser = failures())]
    failures: Vec<bench::Failure>,
    /// Lifetime of access tokens in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    lifetime: u64,
}

fn failures() -> impl TypedValueParser<Value = bench::Failure> {
    let values = FAILURES.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(*meaning));
    PossibleValuesParser::new(values).try_map(|name| bench::Failure::named(&name).ok_or("unknown failure"))
}

pub(super) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    runtime::start()?.block_on(async {
        let mut stop = Stop::listen()?;
        let options = BenchOptions {
            port: args.port,
            failures: args.failures.iter().copied().collect(),
            lifetime: Some(args.lifetime),
        };
        let bench = Bench::start(options)
            .await
            .map_err(|error| Failure::usage(format!("the port cannot be opened: {error}")))?;
        let (server, issuer) = (bench.server(), bench.issuer());
        if context.output.json {
            context.print_json(&json!({"server": server, "issuer": issuer}))?;
        } else {
            context.print(&format!("server {server}\nissuer {issuer}\n"))?;
        }
        let mut seen = 0;
        loop {
            let line = tokio::select! {
                line = bench.next(seen) => line,
                _ = stop.stopped() => return Ok(Ending::Fine),
            };
            seen += 1;
            if context.output.json {
                context.print_json(&line)?;
            } else {
                let grant = line.grant.map(|grant| format!(" {grant}")).unwrap_or_default();
                let user = line.user.map(|user| format!(" as {user}")).unwrap_or_default();
                let text = format!(
                    "{:13} {} {} {}{grant}{user}\n",
                    line.server, line.status, line.method, line.path
                );
                context.print(&crate::render::safe::text(&text))?;
            }
        }
    })
}
