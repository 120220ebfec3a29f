//! Turns the settings of hooks into hooks: programs and HTTP endpoints.

use crate::{environment::Environment, failure::Failure};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use bytes::Bytes;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use trunkline_config::{
    Hook as HookSetting, HookEvent as EventSetting, HookFailure, HookRun, HookShows, Secret, Settings,
};
use trunkline_gateway::{
    hook::{Hook, HookEvent, Hooks, OnHookFailure, RunHook, Shows},
    limit::ToolNames,
};
use trunkline_process::{Command, Containment, Keep, Limits, Overflow};
use trunkline_transport::{
    body,
    http::{HttpClient, HttpOptions, Target},
};

/// Bytes of a hook's answer.
const MAX_ANSWER: usize = 64 * 1024;
/// Bytes of a program's error output that are logged.
const MAX_COMPLAINT: usize = 1024;

/// The hooks of a server; `None` if there are none.
pub(crate) fn hooks(
    settings: &Settings,
    environment: &Environment,
    names: ToolNames,
) -> Result<Option<Arc<Hooks>>, Failure> {
    if settings.hooks.is_empty() {
        return Ok(None);
    }
    let unusable = |name: &str, why: &dyn std::fmt::Display| Failure::usage(format!("hooks.{name}: {why}"));
    let mut hooks = Vec::new();
    for (name, setting) in &settings.hooks {
        let run = match &setting.run {
            HookRun::Command(words) => program(words, setting.timeout, environment),
            HookRun::Endpoint { url, headers } => {
                endpoint(url, headers).map_err(|why| unusable(name, &why))?
            }
        };
        hooks.push(hook(name, setting, run));
    }
    let hooks = Hooks::new(hooks, names).map_err(|error| Failure::usage(format!("hooks: {error}")))?;
    Ok(Some(hooks))
}

fn hook(name: &str, setting: &HookSetting, run: RunHook) -> Hook {
    let event = |event: &EventSetting| match event {
        EventSetting::Before => HookEvent::Before,
        EventSetting::After => HookEvent::After,
        EventSetting::Error => HookEvent::Error,
    };
    Hook {
        name: name.to_owned(),
        events: setting.on.iter().map(event).collect(),
        tools: setting.tools.clone(),
        shows: match setting.shows {
            HookShows::Masked => Shows::Masked,
            HookShows::Whole => Shows::Whole,
            HookShows::None => Shows::Nothing,
        },
        on_failure: match setting.when_it_fails {
            HookFailure::Allow => OnHookFailure::Allow,
            HookFailure::Refuse => OnHookFailure::Refuse,
        },
        timeout: setting.timeout,
        concurrency: super::serve::size(setting.concurrency),
        per_caller: setting.concurrency_per_caller.map(super::serve::size),
        run,
    }
}

fn program(words: &[String], deadline: Duration, environment: &Environment) -> RunHook {
    let (program, args) = words.split_first().map_or(("", [].as_slice()), |(program, args)| (program, args));
    let command = Command {
        inherited: environment.all(),
        // It reads what tools say, so it may be made to leave processes behind.
        containment: Containment::Tree,
        ..Command::new(program)
    };
    let command = command.args(args).directory("/");
    let limits = Limits {
        deadline,
        stdout: Keep { head: MAX_ANSWER, tail: 0 },
        stderr: Keep { head: 0, tail: MAX_COMPLAINT },
        overflow: Overflow::Stop,
        ..Limits::default()
    };
    Arc::new(move |event| {
        let (command, limits) = (command.clone(), limits.clone());
        Box::pin(async move {
            let finished = command.run(&limits, event).await.map_err(|error| error.to_string())?;
            if finished.ending.is_success() {
                return Ok(finished.stdout.head);
            }
            let said = finished.stderr.tail_text();
            Err(format!("the program {}: {}", finished.ending, said.trim()))
        })
    })
}

fn endpoint(url: &str, given: &BTreeMap<String, Secret>) -> Result<RunHook, String> {
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    let client = HttpClient::new(HttpOptions::default()).map_err(|error| error.to_string())?;
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
    for (name, secret) in given {
        let header = HeaderName::try_from(name.as_str()).map_err(|error| error.to_string())?;
        let value = HeaderValue::from_str(secret.expose()).map_err(|_| format!("the header {name}"))?;
        headers.insert(header, value);
    }
    Ok(Arc::new(move |event| {
        let (client, target, headers) = (client.clone(), target.clone(), headers.clone());
        Box::pin(async move {
            let sent = client.send(Method::POST, &target, headers, Bytes::from(event)).await;
            let response = sent.map_err(|error| error.to_string())?;
            if !response.status().is_success() {
                return Err(format!("the endpoint answered {}", response.status()));
            }
            let answer = body::read(response.into_body(), MAX_ANSWER).await;
            Ok(answer.map_err(|error| error.to_string())?.to_vec())
        })
    }))
}
