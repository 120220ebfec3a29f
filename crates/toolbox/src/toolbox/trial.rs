//! Trial: calls a toolbox in process, for tests, and records its notifications and questions.

use super::Toolbox;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::{collections::VecDeque, sync::Arc};
use trunkline_protocol::{
    Call, Caller, Handler, Notification, Outcome, Part, Raw,
    message::{CallToolResult, Level, LogParams, ProgressParams, meta},
    method,
};

/// A client for tests. By default it declares no capabilities, and asks for progress and for all
/// log messages.
#[derive(Debug, Clone)]
pub struct Trial {
    toolbox: Toolbox,
    caller: Arc<Caller>,
    capabilities: Value,
    log_level: Option<Level>,
    answers: Arc<Mutex<VecDeque<(String, Outcome)>>>,
}

/// A finished call.
#[derive(Debug)]
pub struct Run {
    pub outcome: Outcome,
    pub notifications: Vec<Notification>,
    pub questions: Vec<Asked>,
    /// Number of [`detach`](crate::Context::detach) calls.
    pub detached: usize,
}

/// A question that a call asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub key: Option<String>,
    pub method: String,
    pub params: Option<Raw>,
}

impl Toolbox {
    /// Calls the toolbox directly, for tests.
    pub fn test(&self) -> Trial {
        Trial {
            toolbox: self.clone(),
            caller: Caller::local(),
            capabilities: json!({}),
            log_level: Some(Level::Debug),
            answers: Arc::default(),
        }
    }
}

impl Trial {
    #[must_use]
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = Arc::new(caller);
        self
    }

    /// Sets the client's capabilities, such as `json!({"elicitation": {}})`.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    #[must_use]
    pub fn log_level(mut self, level: Option<Level>) -> Self {
        self.log_level = level;
        self
    }

    /// Queues an answer to the next question with this method. Questions without one are refused.
    #[must_use]
    pub fn answer(self, method: impl Into<String>, result: Value) -> Self {
        let answer = (method.into(), Ok(result.into()));
        self.answers.lock().push_back(answer);
        self
    }

    /// Calls a tool.
    ///
    /// # Panics
    /// If the answer is a fault, for example for a missing tool (use [`Trial::run`] to test for
    /// faults), or if the structured content does not match the tool's output schema.
    pub async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let run = self.run_tool(tool, arguments).await;
        let result: CallToolResult = match run.outcome {
            Ok(result) => result.decode().expect("a tool's result can be read"),
            Err(fault) => panic!("`{tool}` answered with a fault: {fault}"),
        };
        self.check_output(tool, &result);
        result
    }

    fn check_output(&self, tool: &str, result: &CallToolResult) {
        let catalog = self.toolbox.inner.catalog();
        let Some(checker) = catalog.tools.get(tool).and_then(|offer| offer.output.as_ref()) else { return };
        if result.failed() {
            return;
        }
        let content = result.structured_content.as_ref().map(Raw::decode::<Value>);
        let Some(Ok(content)) = content else {
            panic!("`{tool}` has an output schema, but no structured content")
        };
        if let Err(complaints) = checker.check(&content) {
            let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
            panic!("the structured content of `{tool}` breaks its output schema: {}", lines.join("; "));
        }
    }

    /// Calls a tool, and records its notifications and questions.
    pub async fn run_tool(&self, tool: &str, arguments: Value) -> Run {
        self.run(method::TOOLS_CALL, json!({"name": tool, "arguments": arguments})).await
    }

    /// Calls any method.
    pub async fn run(&self, method: &str, params: Value) -> Run {
        let mut reply = self.toolbox.call(self.request(method, params));
        let mut run =
            Run { outcome: Ok(Raw::null()), notifications: Vec::new(), questions: Vec::new(), detached: 0 };
        while let Some(part) = reply.next().await {
            match part {
                Part::Notification(notification) => run.notifications.push(notification),
                Part::Detach => run.detached += 1,
                Part::Final(outcome) => run.outcome = outcome,
                Part::Question(question) => {
                    run.questions.push(Asked {
                        key: question.key.clone(),
                        method: question.method.to_string(),
                        params: question.params.clone(),
                    });
                    if let Some(answer) = self.next_answer(&question.method) {
                        question.answer(answer);
                    }
                }
            }
        }
        run
    }

    /// Builds the call, for tests that read its reply part by part.
    pub fn request(&self, method: &str, params: Value) -> Call {
        let mut own = Map::new();
        own.insert(meta::PROTOCOL_VERSION.to_owned(), "2026-07-28".into());
        own.insert(meta::CLIENT_CAPABILITIES.to_owned(), self.capabilities.clone());
        own.insert(meta::PROGRESS_TOKEN.to_owned(), 1.into());
        if let Some(level) = self.log_level {
            own.insert(meta::LOG_LEVEL.to_owned(), level.as_str().into());
        }
        let mut params = params;
        if let Some(Value::Object(given)) = params.get("_meta") {
            own.extend(given.clone());
        }
        if let Value::Object(members) = &mut params {
            members.insert("_meta".to_owned(), own.into());
        }
        Call { caller: Arc::clone(&self.caller), ..Call::new(method.to_owned(), Some(params.into())) }
    }

    fn next_answer(&self, method: &str) -> Option<Outcome> {
        let mut answers = self.answers.lock();
        let at = answers.iter().position(|(m, _)| m == method)?;
        answers.remove(at).map(|(_, outcome)| outcome)
    }
}

impl Run {
    pub fn progress(&self) -> Vec<ProgressParams> {
        self.read(method::PROGRESS)
    }

    pub fn logs(&self) -> Vec<LogParams> {
        self.read(method::MESSAGE)
    }

    fn read<T: serde::de::DeserializeOwned>(&self, method: &str) -> Vec<T> {
        let of_method = self.notifications.iter().filter(|n| n.method == method);
        of_method.filter_map(|n| n.params.as_ref()?.decode().ok()).collect()
    }

    /// The result of a tool, if there is one.
    pub fn result(&self) -> Option<CallToolResult> {
        self.outcome.as_ref().ok()?.decode().ok()
    }
}
