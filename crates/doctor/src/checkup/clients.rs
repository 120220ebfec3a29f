// table
//! The configuration files of MCP clients: who has which file where, and in which form.

use std::path::{Path, PathBuf};

/// A file that a client reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFile {
    pub client: &'static str,
    pub path: PathBuf,
    pub format: Format,
    /// The members under which servers stand.
    pub servers: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON; comments and trailing commas count as a mistake.
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
    Toml,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    pub home: Option<PathBuf>,
    /// `~/.config`, or what stands for it.
    pub config: Option<PathBuf>,
    pub directory: PathBuf,
}

const MCP_SERVERS: &[&str] = &["mcpServers"];

/// In the current directory.
const PROJECT: &[(&str, &str, Format, &[&str])] = &[
    ("Claude Code", ".mcp.json", Format::Json, MCP_SERVERS),
    ("Cursor", ".cursor/mcp.json", Format::Json, MCP_SERVERS),
    ("VS Code", ".vscode/mcp.json", Format::JsonWithComments, &["servers"]),
    ("opencode", "opencode.json", Format::JsonWithComments, &["mcp"]),
    ("opencode", "opencode.jsonc", Format::JsonWithComments, &["mcp"]),
    ("Codex", ".codex/config.toml", Format::Toml, &["mcp_servers"]),
];

/// In the home directory.
const HOME: &[(&str, &str, Format, &[&str])] = &[
    ("Claude Code", ".claude.json", Format::Json, MCP_SERVERS),
    ("Cursor", ".cursor/mcp.json", Format::Json, MCP_SERVERS),
    ("Codex", ".codex/config.toml", Format::Toml, &["mcp_servers"]),
    ("Gemini CLI", ".gemini/settings.json", Format::JsonWithComments, MCP_SERVERS),
    ("Windsurf", ".codeium/windsurf/mcp_config.json", Format::Json, MCP_SERVERS),
    ("Copilot CLI", ".copilot/mcp-config.json", Format::Json, MCP_SERVERS),
    (
        "Claude Desktop",
        "Library/Application Support/Claude/claude_desktop_config.json",
        Format::Json,
        MCP_SERVERS,
    ),
    ("VS Code", "Library/Application Support/Code/User/mcp.json", Format::JsonWithComments, &["servers"]),
];

/// In the directory of configurations.
const CONFIG: &[(&str, &str, Format, &[&str])] = &[
    ("Claude Desktop", "Claude/claude_desktop_config.json", Format::Json, MCP_SERVERS),
    ("VS Code", "Code/User/mcp.json", Format::JsonWithComments, &["servers"]),
    (
        "Cline",
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        Format::Json,
        MCP_SERVERS,
    ),
    ("opencode", "opencode/opencode.json", Format::JsonWithComments, &["mcp"]),
    ("opencode", "opencode/opencode.jsonc", Format::JsonWithComments, &["mcp"]),
    ("Zed", "zed/settings.json", Format::JsonWithComments, &["context_servers"]),
];

/// The files of all known clients that exist here.
pub fn known_files(surroundings: &Surroundings) -> Vec<ClientFile> {
    let Surroundings { home, config, directory } = surroundings;
    let places = [(Some(directory), PROJECT), (home.as_ref(), HOME), (config.as_ref(), CONFIG)];
    let mut files: Vec<ClientFile> = Vec::new();
    for (base, rows) in places {
        let Some(base) = base else { continue };
        for (client, path, format, servers) in rows {
            let path = base.join(Path::new(path));
            if path.exists() && !files.iter().any(|known| known.path == path) {
                files.push(ClientFile { client, path, format: *format, servers });
            }
        }
    }
    files
}
