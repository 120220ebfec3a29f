//! Context cost: the tokens that the tool definitions take in a model's context.

use crate::evidence::{Case, List};
use serde::Serialize;
use serde_json::Value;

/// The context cost of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Estimated tokens of all tools.
    pub total: usize,
    /// Estimated tokens of the server's instructions.
    pub instructions: usize,
    /// Most expensive first.
    pub tools: Vec<ToolCost>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCost {
    pub name: String,
    pub tokens: usize,
}

/// A client's known limit on the number of tools of all servers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimit {
    pub client: &'static str,
    pub tools: usize,
    /// The URL that documents the limit.
    pub source: &'static str,
}

/// The clients whose limit is known. Others, such as Claude Code, load tools only when they are
/// searched for.
pub const CLIENT_LIMITS: &[ClientLimit] = &[
    ClientLimit { client: "Cursor", tools: 80, source: "https://github.com/Snowflake-Labs/mcp/issues/77" },
    ClientLimit {
        client: "Windsurf",
        tools: 100,
        source: "https://docs.windsurf.com/windsurf/cascade/mcp#configuring-mcp-tools",
    },
    ClientLimit {
        client: "VS Code",
        tools: 128,
        source: "https://github.com/microsoft/vscode/issues/337428",
    },
];

impl Cost {
    pub(crate) fn of(case: &Case<'_>) -> Option<Self> {
        let items = case.list(List::Tools).ok()?;
        let mut tools: Vec<ToolCost> = items
            .iter()
            .map(|item| ToolCost {
                name: item.text("name").unwrap_or("(no name)").to_owned(),
                tokens: estimate_tool(item.value),
            })
            .collect();
        tools.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(&b.name)));
        let instructions = case.introduction().and_then(|it| it.get("instructions")).map_or(0, estimate);
        Some(Self { total: tools.iter().map(|tool| tool.tokens).sum(), instructions, tools })
    }
}

/// The members of a tool that reach the model: model APIs accept nothing else. Titles, annotations
/// and output schemas stay in the client.
const SHOWN: [&str; 3] = ["name", "description", "inputSchema"];

/// Estimated tokens of a tool in the model's context.
pub fn estimate_tool(tool: &Value) -> usize {
    let shown = SHOWN.iter().filter_map(|member| Some(((*member).to_owned(), tool.get(*member)?.clone())));
    estimate(&Value::Object(shown.collect()))
}

/// Estimated tokens of a value: a quarter of the characters of its compact JSON.
pub fn estimate(value: &Value) -> usize {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().count().div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_the_model_reads_is_counted() {
        let shown = json!({"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}});
        let mut whole = shown.clone();
        whole["outputSchema"] = json!({"type": "object", "description": "long ".repeat(100)});
        whole["annotations"] = json!({"readOnlyHint": true});
        assert_eq!(estimate_tool(&whole), estimate(&shown));
    }
}
