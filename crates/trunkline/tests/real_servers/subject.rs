//! The linted servers, as data.

/// A server and its start command.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Its name on the page.
    pub(crate) title: &'static str,
    /// The package whose version the page states.
    pub(crate) package: Package,
    pub(crate) way: Way,
    pub(crate) words: &'static [&'static str],
    pub(crate) variables: &'static [(&'static str, &'static str)],
    pub(crate) furniture: Furniture,
}

#[derive(Debug)]
pub(crate) enum Package {
    Npm { folder: &'static str, name: &'static str },
    Python(&'static str),
    Crate(&'static str),
}

#[derive(Debug)]
pub(crate) enum Way {
    Stdio,
    Http { usual: u16, port: Port, path: &'static str },
}

/// The way in which a server's port is chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Port {
    Told,
    Fixed,
}

/// Content of the server's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Furniture {
    Nothing,
    File,
    Repository,
}

/// Mode of the linter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Default,
    Active,
}

const fn npm(name: &'static str) -> Package {
    Package::Npm { folder: "npm", name }
}

const SDK_1: Package = Package::Npm { folder: "clients", name: "@modelcontextprotocol/sdk" };
const SDK_2: Package = Package::Npm { folder: "servers", name: "@modelcontextprotocol/server" };

const fn stdio(title: &'static str, package: Package, words: &'static [&'static str]) -> Subject {
    Subject { title, package, way: Way::Stdio, words, variables: &[], furniture: Furniture::Nothing }
}

const fn http(
    title: &'static str,
    package: Package,
    (usual, port, path): (u16, Port, &'static str),
    words: &'static [&'static str],
) -> Subject {
    let way = Way::Http { usual, port, path };
    Subject { title, package, way, words, variables: &[], furniture: Furniture::Nothing }
}

impl Subject {
    const fn with(mut self, variables: &'static [(&'static str, &'static str)]) -> Self {
        self.variables = variables;
        self
    }

    const fn in_folder(mut self, furniture: Furniture) -> Self {
        self.furniture = furniture;
        self
    }
}

const EVERYTHING: &str = "@modelcontextprotocol/server-everything";
const MCP: &str = "/mcp";

pub(crate) const SUBJECTS: &[Subject] = &[
    stdio("server-everything over stdio", npm(EVERYTHING), &["{npm}/mcp-server-everything", "stdio"]),
    http(
        "server-everything over Streamable HTTP",
        npm(EVERYTHING),
        (3001, Port::Told, MCP),
        &["{npm}/mcp-server-everything", "streamableHttp"],
    )
    .with(&[("PORT", "{port}")]),
    http(
        "server-everything over HTTP+SSE",
        npm(EVERYTHING),
        (3001, Port::Told, "/sse"),
        &["{npm}/mcp-server-everything", "sse"],
    )
    .with(&[("PORT", "{port}")]),
    stdio(
        "server-filesystem",
        npm("@modelcontextprotocol/server-filesystem"),
        &["{npm}/mcp-server-filesystem", "{folder}"],
    )
    .in_folder(Furniture::File),
    stdio("server-memory", npm("@modelcontextprotocol/server-memory"), &["{npm}/mcp-server-memory"])
        .with(&[("MEMORY_FILE_PATH", "{folder}/memory.jsonl")]),
    stdio(
        "server-sequential-thinking",
        npm("@modelcontextprotocol/server-sequential-thinking"),
        &["{npm}/mcp-server-sequential-thinking"],
    ),
    stdio(
        "mcp-server-git",
        Package::Python("mcp-server-git"),
        &["{python}/mcp-server-git", "-r", "{folder}"],
    )
    .in_folder(Furniture::Repository),
    stdio(
        "mcp-server-time",
        Package::Python("mcp-server-time"),
        &["{python}/mcp-server-time", "--local-timezone", "UTC"],
    ),
    stdio(
        "mcp-server-fetch",
        Package::Python("mcp-server-fetch"),
        &["{python}/mcp-server-fetch", "--allow-private-ips"],
    ),
    stdio(
        "a FastMCP server over stdio",
        Package::Python("fastmcp"),
        &["{python}/python", "{shipped}/fastmcp_server.py"],
    ),
    http(
        "a FastMCP server over Streamable HTTP",
        Package::Python("fastmcp"),
        (3001, Port::Told, MCP),
        &["{python}/python", "{shipped}/fastmcp_server.py", "--http", "{port}"],
    ),
    stdio("an rmcp server over stdio", Package::Crate("rmcp"), &["{rmcp}", "--era", "both"]),
    http(
        "an rmcp server over Streamable HTTP",
        Package::Crate("rmcp"),
        (3001, Port::Told, MCP),
        &["{rmcp}", "--era", "both", "--http", "{port}"],
    ),
    stdio(
        "example mcpServerOutputSchema of the TypeScript SDK 1.x",
        SDK_1,
        &["node", "{examples}/mcpServerOutputSchema.js"],
    ),
    stdio(
        "example progressExample of the TypeScript SDK 1.x",
        SDK_1,
        &["node", "{examples}/progressExample.js"],
    ),
    stdio(
        "example toolWithSampleServer of the TypeScript SDK 1.x",
        SDK_1,
        &["node", "{examples}/toolWithSampleServer.js"],
    ),
    http(
        "example simpleStreamableHttp of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Told, MCP),
        &["node", "{examples}/simpleStreamableHttp.js"],
    )
    .with(&[("MCP_PORT", "{port}")]),
    http(
        "example jsonResponseStreamableHttp of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Fixed, MCP),
        &["node", "{examples}/jsonResponseStreamableHttp.js"],
    ),
    http(
        "example simpleStatelessStreamableHttp of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Fixed, MCP),
        &["node", "{examples}/simpleStatelessStreamableHttp.js"],
    ),
    http(
        "example sseAndStreamableHttpCompatibleServer of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Fixed, MCP),
        &["node", "{examples}/sseAndStreamableHttpCompatibleServer.js"],
    ),
    http(
        "example standaloneSseWithGetStreamableHttp of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Fixed, MCP),
        &["node", "{examples}/standaloneSseWithGetStreamableHttp.js"],
    ),
    http(
        "example elicitationFormExample of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Told, MCP),
        &["node", "{examples}/elicitationFormExample.js"],
    )
    .with(&[("PORT", "{port}")]),
    http(
        "example simpleSseServer of the TypeScript SDK 1.x",
        SDK_1,
        (3000, Port::Fixed, MCP),
        &["node", "{examples}/simpleSseServer.js"],
    ),
    http(
        "example simpleTaskInteractive of the TypeScript SDK 1.x",
        SDK_1,
        (8000, Port::Told, MCP),
        &["node", "{examples}/simpleTaskInteractive.js"],
    )
    .with(&[("PORT", "{port}")]),
    http(
        "example ssePollingExample of the TypeScript SDK 1.x",
        SDK_1,
        (3001, Port::Fixed, MCP),
        &["node", "{examples}/ssePollingExample.js"],
    ),
    stdio(
        "a server of the TypeScript SDK 2.x over stdio",
        SDK_2,
        &["node", "{shipped}/typescript_server.cjs", "{servers}"],
    ),
    http(
        "a server of the TypeScript SDK 2.x over Streamable HTTP",
        SDK_2,
        (3000, Port::Told, MCP),
        &["node", "{shipped}/typescript_server.cjs", "{servers}", "--http", "{port}"],
    ),
];
