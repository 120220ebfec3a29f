//! Visits by a client built with the official Rust SDK.
#![expect(
    deprecated,
    reason = "the SDK marks what the modern era dropped, and the legacy era is served here as well"
)]

use crate::{
    cell::{Carrier, Cell},
    visit::{Errand, NAME, Report, SAMPLE},
};
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationAction, GetPromptRequestParams, Implementation,
        ProtocolVersion, ReadResourceRequestParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::process::Command;
use trunkline_protocol::Era;

/// A host that accepts every form and records the questions; clones share the record.
#[derive(Clone, Default)]
struct Answering {
    asked: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Answering {
    fn get_info(&self) -> ClientConfig {
        let capabilities =
            serde_json::from_value(json!({"elicitation": {"form": {}}, "sampling": {}})).unwrap();
        ClientConfig::new(capabilities, Implementation::new("foreign-rust", "1.0.0"))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.asked.lock().unwrap().push(message);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": NAME })))
    }

    async fn create_message(
        &self,
        _request: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let said = json!({"type": "text", "text": SAMPLE});
        let result = json!({"role": "assistant", "model": "a model", "content": said});
        Ok(serde_json::from_value(result).unwrap())
    }
}

pub(crate) async fn visit(cell: Cell, errands: &[Errand]) -> Vec<Report> {
    let mut reports = Vec::new();
    for errand in errands {
        reports.push(run_errand(cell, errand).await);
    }
    reports
}

async fn run_errand(cell: Cell, errand: &Errand) -> Report {
    let Errand { target, calls, reads, prompts } = errand;
    let host = Answering::default();
    let lifecycle = match cell.era {
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Modern => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    };
    let client = if cell.carrier == Carrier::Stdio {
        let mut command = Command::new(&target[0]);
        command.args(&target[1..]);
        host.clone().serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), lifecycle).await
    } else {
        let transport = StreamableHttpClientTransport::from_uri(target[0].as_str());
        host.clone().serve_with_lifecycle(transport, lifecycle).await
    };
    let client = client.unwrap_or_else(|error| panic!("{cell:?}: {error}"));
    let tools = client.list_all_tools().await.unwrap();
    let mut results = Vec::new();
    for (tool, arguments) in calls {
        let arguments = arguments.as_object().unwrap().clone();
        let call = CallToolRequestParams::new(*tool).with_arguments(arguments);
        results.push(serde_json::to_value(client.call_tool(call).await.unwrap()).unwrap());
    }
    let mut read = Vec::new();
    for uri in reads {
        let result = client.read_resource(ReadResourceRequestParams::new(*uri)).await.unwrap();
        read.push(serde_json::to_value(result).unwrap());
    }
    let mut prompted = Vec::new();
    for (prompt, arguments) in prompts {
        let params = json!({"name": prompt, "arguments": arguments});
        let params: GetPromptRequestParams = serde_json::from_value(params).unwrap();
        prompted.push(serde_json::to_value(client.get_prompt(params).await.unwrap()).unwrap());
    }
    let revision = client.peer_info().unwrap().protocol_version.to_string();
    client.cancel().await.unwrap();
    let tools = tools.iter().map(|tool| tool.name.to_string()).collect();
    let asked = host.asked.lock().unwrap().clone();
    Report { revision, tools, results, read, prompted, asked }
}
