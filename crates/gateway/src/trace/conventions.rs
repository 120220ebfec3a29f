//! Names and attributes of spans, by OpenTelemetry's semantic conventions for MCP (in development
//! as of 2026).

use super::{About, Ending, Side, Span};

impl Span {
    /// `{method} {tool or prompt}`. URIs are left out: their number is unbounded.
    pub fn name(&self) -> String {
        match &self.about {
            About::Tool(name) | About::Prompt(name) => format!("{} {name}", self.method),
            About::Resource(_) | About::Nothing => self.method.to_string(),
        }
    }

    /// The attributes, without arguments and results.
    pub fn attributes(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![("mcp.method.name", self.method.to_string())];
        match &self.about {
            About::Tool(name) => {
                all.push(("gen_ai.tool.name", name.clone()));
                all.push(("gen_ai.operation.name", "execute_tool".to_owned()));
            }
            About::Prompt(name) => all.push(("gen_ai.prompt.name", name.clone())),
            About::Resource(uri) => all.push(("mcp.resource.uri", uri.clone())),
            About::Nothing => {}
        }
        if let Some(revision) = &self.revision {
            all.push(("mcp.protocol.version", revision.clone()));
        }
        all.push(("trunkline.caller", self.caller.id.clone()));
        if let Some(view) = &self.view {
            all.push(("trunkline.view", view.to_string()));
        }
        if let Side::Client(server) = &self.side {
            all.push(("trunkline.server", server.to_string()));
        }
        all.extend(self.ending.attributes());
        all
    }
}

impl Ending {
    /// The status description of a failed span.
    pub fn description(&self) -> Option<&'static str> {
        match self {
            Self::Fine => None,
            Self::ToolError => Some("the tool reported an error"),
            Self::Failed { said, .. } => Some(said),
            Self::Cancelled => Some("cancelled"),
        }
    }

    fn attributes(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Fine => Vec::new(),
            Self::ToolError => vec![("error.type", "tool_error".to_owned())],
            Self::Failed { code, app_code, .. } => vec![
                ("error.type", code.to_string()),
                ("rpc.response.status_code", code.to_string()),
                ("trunkline.error.code", (*app_code).to_owned()),
            ],
            Self::Cancelled => vec![("error.type", "cancelled".to_owned())],
        }
    }
}
