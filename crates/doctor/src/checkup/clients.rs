// table
//! The configuration files of known MCP clients: path, format and the member that lists servers.

use std::path::{Path, PathBuf};

/// A client's configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFile {
    pub client: &'static str,
    pub path: PathBuf,
    pub format: Format,
    /// The members that hold the servers.
    pub servers: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Strict JSON; comments and trailing commas are errors.
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
    Toml,
}

/// The directories in which configuration files are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    pub home: Option<PathBuf>,
    /// `~/.config`, or its replacement (`XDG_CONFIG_HOME`).
    pub config: Option<PathBuf>,
    pub directory: PathBuf,
}

const MCP_SERVERS: &[&str] = &["mcpServers"];

/// Files in the current directory.
const PROJECT: &[(&str, &str, Format, &[&str])] = &[
    ("Claude Code", ".mcp.json", Format::Json, MCP_SERVERS),
    ("Cursor", ".cursor/mcp.json", Format::Json, MCP_SERVERS),
    ("VS Code", ".vscode/mcp.json", Format::JsonWithComments, &["servers"]),
    ("opencode", "opencode.json", Format::JsonWithComments, &["mcp"]),
    ("opencode", "opencode.jsonc", Format::JsonWithComments, &["mcp"]),
    ("Codex", ".codex/config.toml", Format::Toml, &["mcp_servers"]),
];

/// Files in the home directory.
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

/// Files in the configuration directory.
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

/// The files of known clients that exist on this machine.
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
