//! The server made with rmcp.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Result;
use axum::serve::ListenerExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{DESCRIPTION, NAME, announce};

/// Format of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    Streams,
    Json,
}

pub(crate) async fn serve(address: SocketAddr, answers: Answers) -> Result<()> {
    let mut config = StreamableHttpServerConfig::default();
    if answers == Answers::Json {
        config = config.with_legacy_session_mode(false).with_json_response(true);
    }
    let tool = Arc::new(echo()?);
    let service = StreamableHttpService::new(
        move || Ok(Echo { tool: tool.clone() }),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let listener = TcpListener::bind(address).await?;
    announce(listener.local_addr()?);
    // As our server does. Without TCP_NODELAY the second event of a stream waits about 40 ms for
    // the client's delayed ACK.
    let listener =
        listener.tap_io(|connection| connection.set_nodelay(true).expect("TCP has this option everywhere"));
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}

struct Echo {
    tool: Arc<Tool>,
}

#[derive(Deserialize)]
struct Given {
    text: String,
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(NAME, env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![Tool::clone(&self.tool)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "echo" {
            return Err(ErrorData::invalid_params("only echo can be called", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let given: Given = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(given.text)]).into())
    }
}

fn echo() -> Result<Tool> {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let schema: JsonObject = serde_json::from_value(schema)?;
    Ok(Tool::new("echo", DESCRIPTION, schema).with_annotations(ToolAnnotations::new().read_only(true)))
}
