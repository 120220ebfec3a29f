//! The driver of the official conformance suite's client scenarios: `conformance-client URL`.
//!
//! The suite names the scenario in `MCP_CONFORMANCE_SCENARIO`, the revision in
//! `MCP_CONFORMANCE_PROTOCOL_VERSION` and, for some scenarios, further data as JSON in
//! `MCP_CONFORMANCE_CONTEXT`.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for the suite, which speaks by environment and stderr"
)]

mod account;

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::{env, future, process::ExitCode, sync::Arc};
use trunkline_client::{Abilities, Ability, Asked, Client, ConnectOptions, Host, RevisionChoice, Target};
use trunkline_protocol::{
    Fault, FaultKind, Notification, Object, Outcome, Raw, Revision, message::Tool, method,
};

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = env::args().nth(1) else {
        eprintln!("usage: conformance-client URL");
        return ExitCode::from(2);
    };
    match run(&url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{}: {fault}", fault.entry().code);
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str) -> Result<(), Fault> {
    let target = Target::url(url).map_err(|error| Fault::new(FaultKind::UrlInvalid, error.to_string()))?;
    let revision =
        env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").ok().and_then(|text| text.parse::<Revision>().ok());
    let mut options = ConnectOptions {
        speak: revision.map_or(RevisionChoice::Newest, RevisionChoice::Exactly),
        host: Arc::new(Agreeable),
        ..ConnectOptions::default()
    };
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    if scenario.starts_with("auth/") {
        options.http.credentials = Some(Arc::new(account::of(url)?));
    }
    let outcome = async {
        let client = Client::connect(&target, options).await?;
        let outcome = play(&client, &scenario).await;
        client.close().await;
        outcome
    };
    account::judge(&scenario, outcome.await)
}

async fn play(client: &Client, scenario: &str) -> Result<(), Fault> {
    match scenario {
        // The mock of the older suite declares no tools, so there are none to list.
        "initialize" if !client.has_capability("tools") => Ok(()),
        "initialize" | "json-schema-ref-no-deref" => client.tools().await.map(drop),
        "tools_call" => call(client, "add_numbers", json!({"a": 5, "b": 3})).await,
        "elicitation-sep1034-client-defaults" => {
            call(client, "test_client_elicitation_defaults", json!({})).await
        }
        "sse-retry" => call(client, "test_reconnection", json!({})).await,
        "json-schema-2020-12-preservation" => echo_schema(client).await,
        "request-metadata" => {
            // The mock declares no capabilities, but expects a request anyway.
            client.ask(method::TOOLS_LIST, Object::new()).await.map(drop)
        }
        "http-standard-headers" => use_everything(client).await,
        "http-custom-headers" => call_as_told(client).await,
        "http-invalid-tool-headers" => call_all(client).await,
        "sep-2322-client-request-state" => {
            client.tools().await?;
            for tool in [
                "test_mrtr_echo_state",
                "test_mrtr_unrelated",
                "test_mrtr_no_state",
                "test_mrtr_no_result_type",
            ] {
                call(client, tool, json!({})).await?;
            }
            Ok(())
        }
        other if other.starts_with("auth/") => call_all(client).await,
        other => Err(Fault::new(FaultKind::NotAvailable, format!("no script for scenario `{other}`"))),
    }
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<(), Fault> {
    client.call(tool, object(arguments)).await.map(drop)
}

async fn echo_schema(client: &Client) -> Result<(), Fault> {
    let observed = client.tool("json_schema_2020_12_tool").await?.input_schema;
    let mut arguments = Object::new();
    arguments.set("schema", observed);
    client.call("json_schema_echo", arguments).await.map(drop)
}

async fn use_everything(client: &Client) -> Result<(), Fault> {
    call_all(client).await?;
    for resource in &client.resources().await?.items {
        client.read(&resource.uri).await?;
    }
    for prompt in &client.prompts().await?.items {
        client.prompt(&prompt.name, Vec::new()).await?;
    }
    Ok(())
}

async fn call_all(client: &Client) -> Result<(), Fault> {
    for tool in &client.tools().await?.items {
        client.call(&tool.name, sample_arguments(tool)).await?;
    }
    Ok(())
}

/// Makes exactly the calls that the suite expects.
async fn call_as_told(client: &Client) -> Result<(), Fault> {
    client.tools().await?;
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context =
        Raw::parse(context).map_err(|error| Fault::new(FaultKind::InvalidRequest, error.to_string()))?;
    let calls: Vec<Raw> = context.member_as("toolCalls").unwrap_or_default();
    for wanted in calls {
        let name: String = wanted.member_as("name").unwrap_or_default();
        let arguments = wanted.member("arguments").and_then(|raw| raw.object()).unwrap_or_default();
        client.call(name, arguments).await?;
    }
    Ok(())
}

/// A value for each required argument.
fn sample_arguments(tool: &Tool) -> Object {
    let schema: Value = tool.input_schema.decode().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let names = required.iter().filter_map(Value::as_str);
    names
        .map(|name| {
            let value = match schema["properties"][name]["type"].as_str() {
                Some("integer" | "number") => json!(1),
                Some("boolean") => json!(true),
                _ => json!("sample"),
            };
            (name.to_owned(), Raw::from(value))
        })
        .collect()
}

fn object(value: Value) -> Object {
    Raw::from(value).object().unwrap_or_default()
}

/// A host that accepts everything, with the default values.
struct Agreeable;

impl Host for Agreeable {
    fn abilities(&self) -> Abilities {
        Abilities {
            roots: Ability::Yes,
            sampling: Ability::Yes,
            sampling_tools: Ability::No,
            elicitation_form: Ability::Yes,
            elicitation_url: Ability::No,
        }
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome> {
        let params: Value = asked.params.and_then(|raw| raw.decode().ok()).unwrap_or_default();
        let answer = match asked.method.as_ref() {
            method::ELICIT => json!({"action": "accept", "content": defaults(&params["requestedSchema"])}),
            method::CREATE_MESSAGE => {
                json!({"role": "assistant", "model": "none", "stopReason": "endTurn", "content": {"type": "text", "text": "yes"}})
            }
            _ => json!({"roots": []}),
        };
        future::ready(Ok(answer.into())).boxed()
    }

    fn notice(&self, _notification: &Notification) {}
}

fn defaults(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let given =
        properties.into_iter().filter_map(|(name, field)| Some((name, field.get("default")?.clone())));
    Value::Object(given.collect())
}
