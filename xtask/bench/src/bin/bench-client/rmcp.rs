//! rmcp's client under load.

use std::sync::Arc;

use anyhow::Result;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{CallToolRequestParams, ContentBlock, JsonObject, ProtocolVersion},
    service::RunningService,
    transport::{
        StreamableHttpClientTransport, TokioChildProcess,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::process::Command;

use crate::{
    Echo, Era, Place,
    load::{Cost, Load},
};

/// Reuse of HTTP connections between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Each call opens and closes a connection, rmcp's default.
    None,
    /// Connections are kept alive and reused.
    Kept,
}

type Service = RunningService<RoleClient, ()>;

pub(crate) async fn measure(place: Place, era: Era, pool: Pool, load: Load) -> Result<Cost> {
    let lifecycle = match era {
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Modern => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    };
    let service = match place {
        Place::Url(url) if pool == Pool::Kept => {
            let config = StreamableHttpClientTransportConfig::with_uri(url);
            let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
            ().serve_with_lifecycle(transport, lifecycle).await?
        }
        Place::Url(url) => {
            ().serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), lifecycle).await?
        }
        Place::Command { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            ().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        }
    };
    // Applications list the tools before they call one.
    service.list_all_tools().await?;
    load.put_on(Theirs(Arc::new(service))).await
}

#[derive(Clone)]
struct Theirs(Arc<Service>);

impl Echo for Theirs {
    async fn echo(&self, text: String) -> Result<bool> {
        let mut arguments = JsonObject::new();
        arguments.insert("text".to_owned(), text.clone().into());
        let result = self.0.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
        Ok(matches!(&result.content[..], [ContentBlock::Text(content)] if content.text == text))
    }

    async fn list(&self) -> Result<bool> {
        let result = self.0.list_tools(None).await?;
        Ok(matches!(&result.tools[..], [only] if only.name == "echo"))
    }
}
