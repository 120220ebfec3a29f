//! The supported clients, and the locations of their files.

use serde::Serialize;
use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// A supported client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cline,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    OpenCode,
    VsCode,
    Windsurf,
    Zed,
}

/// Scope of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One project.
    Project,
    /// All projects of the user.
    User,
}

/// A file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFile {
    pub client: Client,
    pub scope: Scope,
    pub path: PathBuf,
}

/// The directories needed to find the files.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, if set.
    pub config_home: Option<PathBuf>,
    /// `%APPDATA%`, on Windows.
    pub app_data: Option<PathBuf>,
    /// The project: files are searched in this directory and above it.
    pub directory: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a supported client")]
pub struct UnknownClient(pub String);

impl Client {
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cline,
        Self::Codex,
        Self::Copilot,
        Self::Cursor,
        Self::Gemini,
        Self::OpenCode,
        Self::VsCode,
        Self::Windsurf,
        Self::Zed,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cline => "cline",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
        }
    }

    /// Product name.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cline => "Cline",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "opencode",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    /// Guesses the client of a file by its path, or else by its content.
    pub fn guess(path: &Path, text: &str) -> Option<Self> {
        let whole = path.to_string_lossy().replace('\\', "/");
        let places = [
            ("claude_desktop_config.json", Self::ClaudeDesktop),
            (".claude.json", Self::ClaudeCode),
            (".mcp.json", Self::ClaudeCode),
            (".vscode/mcp.json", Self::VsCode),
            ("Code/User/mcp.json", Self::VsCode),
            (".cursor/mcp.json", Self::Cursor),
            (".copilot/mcp-config.json", Self::Copilot),
            (".gemini/settings.json", Self::Gemini),
            ("windsurf/mcp_config.json", Self::Windsurf),
            ("cline_mcp_settings.json", Self::Cline),
            ("opencode.json", Self::OpenCode),
            ("opencode.jsonc", Self::OpenCode),
            ("config.toml", Self::Codex),
        ];
        let by_place = places.iter().find(|(end, _)| whole.ends_with(end)).map(|(_, client)| *client);
        let keys = [
            ("\"context_servers\"", Self::Zed),
            ("\"mcpServers\"", Self::ClaudeCode),
            ("\"servers\"", Self::VsCode),
            ("[mcp_servers.", Self::Codex),
            ("\"mcp\"", Self::OpenCode),
        ];
        by_place.or_else(|| keys.iter().find(|(key, _)| text.contains(key)).map(|(_, client)| *client))
    }

    /// The existing files of this client, at most one per scope.
    pub fn files(self, machine: &Machine) -> Vec<ClientFile> {
        let upwards = |names: &[&str]| {
            machine
                .directory
                .ancestors()
                .flat_map(|at| names.iter().map(|name| at.join(name)))
                .find(|path| path.is_file())
        };
        let project = upwards(self.in_project());
        let user = self.of_user(machine).into_iter().find(|path| path.is_file());
        // If the project is the home directory, the project's file may be the user's file.
        let project = project.filter(|path| user.as_ref() != Some(path));
        let file = |scope, path: Option<PathBuf>| path.map(|path| ClientFile { client: self, scope, path });
        file(Scope::Project, project).into_iter().chain(file(Scope::User, user)).collect()
    }

    fn in_project(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[".mcp.json"],
            Self::Codex => &[".codex/config.toml"],
            Self::Cursor => &[".cursor/mcp.json"],
            Self::Gemini => &[".gemini/settings.json"],
            Self::OpenCode => &["opencode.json", "opencode.jsonc", ".opencode/opencode.json"],
            Self::VsCode => &[".vscode/mcp.json"],
            Self::Zed => &[".zed/settings.json"],
            Self::ClaudeDesktop | Self::Cline | Self::Copilot | Self::Windsurf => &[],
        }
    }

    /// Possible locations of the user's file, on any system.
    pub(super) fn of_user(self, machine: &Machine) -> Vec<PathBuf> {
        let home = |path: &str| machine.home.as_ref().map(|home| home.join(path));
        let config = |path: &str| {
            machine.config_home.clone().or_else(|| home(".config")).map(|config| config.join(path))
        };
        let library = |path: &str| home("Library/Application Support").map(|library| library.join(path));
        let roaming = |path: &str| machine.app_data.as_ref().map(|data| data.join(path));
        let everywhere = |path: &str| [config(path), library(path), roaming(path)];
        let cline = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
        let found: Vec<Option<PathBuf>> = match self {
            Self::ClaudeCode => vec![home(".claude.json")],
            Self::ClaudeDesktop => everywhere("Claude/claude_desktop_config.json").into(),
            Self::Cline => everywhere(cline).into(),
            Self::Codex => vec![home(".codex/config.toml")],
            Self::Copilot => vec![home(".copilot/mcp-config.json")],
            Self::Cursor => vec![home(".cursor/mcp.json")],
            Self::Gemini => vec![home(".gemini/settings.json")],
            Self::OpenCode => vec![config("opencode/opencode.json"), config("opencode/opencode.jsonc")],
            Self::VsCode => everywhere("Code/User/mcp.json").into(),
            Self::Windsurf => vec![home(".codeium/windsurf/mcp_config.json")],
            Self::Zed => vec![config("zed/settings.json"), roaming("Zed/settings.json")],
        };
        found.into_iter().flatten().collect()
    }
}

impl ClientFile {
    /// The directory that a project's file belongs to.
    pub(crate) fn project(&self) -> Option<&Path> {
        let parent = self.path.parent()?;
        let hidden = parent.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        match self.scope {
            Scope::User => None,
            Scope::Project if hidden => parent.parent(),
            Scope::Project => Some(parent),
        }
    }
}

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Self, UnknownClient> {
        let plain = |text: &str| text.to_lowercase().replace([' ', '-', '_'], "");
        let wanted = plain(text);
        let named = |client: &&Self| plain(client.name()) == wanted || plain(client.title()) == wanted;
        Self::ALL.iter().find(named).copied().ok_or_else(|| UnknownClient(text.to_owned()))
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
