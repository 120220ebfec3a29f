//! The matrix: the client against real servers, over every transport and in every era that each of
//! them has.
//!
//! A row is a server, a transport and an era. *Auto*: transport and era were detected; *forced*:
//! the era was given. The other columns are the steps: lists, calls, structured content, resources
//! read, prompts, completions, progress, cancelled calls, requests of the server answered during a
//! call, logs at a level, updates of a subscribed resource, a list that changed, and closing,
//! after which neither session nor process is left. A column without a tick is a feature that the
//! server does not have; if it declares the capability nevertheless, the test fails.
//!
//! | server | transport | era | auto | forced | list | call | structured | read | prompt | complete | progress | cancel | answer | log | update | change | close |
//! |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
//! | server-everything | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | server-everything | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | server-everything | HTTP+SSE | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | server-filesystem | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ |   |   |   |   | ✓ |   |   |   |   | ✓ |
//! | server-memory | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   |   |   | ✓ |   |   | ✓ |   | ✓ |
//! | mcp-server-git | stdio | legacy |   | ✓ | ✓ | ✓ |   |   |   |   |   | ✓ |   |   |   |   | ✓ |
//! | mcp-server-git | stdio | modern | ✓ | ✓ | ✓ | ✓ |   |   |   |   |   | ✓ |   |   |   |   | ✓ |
//! | mcp-server-time | stdio | legacy |   | ✓ | ✓ | ✓ |   |   |   |   |   | ✓ |   |   |   |   | ✓ |
//! | mcp-server-time | stdio | modern | ✓ | ✓ | ✓ | ✓ |   |   |   |   |   | ✓ |   |   |   |   | ✓ |
//! | mcp-server-fetch | stdio | legacy |   | ✓ | ✓ | ✓ |   |   | ✓ |   |   | ✓ |   |   |   |   | ✓ |
//! | mcp-server-fetch | stdio | modern | ✓ | ✓ | ✓ | ✓ |   |   | ✓ |   |   | ✓ |   |   |   |   | ✓ |
//! | FastMCP | stdio | legacy |   | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ | ✓ | ✓ | ✓ |   |   | ✓ |
//! | FastMCP | stdio | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ | ✓ | ✓ | ✓ |   |   | ✓ |
//! | FastMCP | Streamable HTTP | legacy |   | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ | ✓ | ✓ | ✓ |   |   | ✓ |
//! | FastMCP | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |   | ✓ | ✓ | ✓ | ✓ |   |   | ✓ |
//! | rmcp | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp | stdio | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//!
//! A server that supports both eras is detected as modern, so its legacy rows have no *auto*;
//! rmcp's server can be limited to one era.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod beyond;
mod cell;
mod exercise;
mod peers;
mod recorder;
mod script;
mod scripted;
mod site;
mod table;
mod wire;

use cell::{Cell, Server, Way};
use trunkline_client::Carrier;
use trunkline_protocol::Era;

/// Each line is a cell of the matrix and a test of that name.
macro_rules! cells {
    ($($name:ident: $server:ident, $carrier:ident, $era:ident, $way:ident;)*) => {
        const CELLS: &[Cell] = &[$(Cell {
            server: Server::$server,
            carrier: Carrier::$carrier,
            era: Era::$era,
            way: Way::$way,
        }),*];

        $(
            #[tokio::test]
            async fn $name() {
                let way = Way::$way;
                exercise::exercise(Cell { server: Server::$server, carrier: Carrier::$carrier, era: Era::$era, way }).await;
            }
        )*
    };
}

cells! {
    everything_stdio_legacy_auto: Everything, Stdio, Legacy, Auto;
    everything_stdio_legacy_forced: Everything, Stdio, Legacy, Forced;
    everything_http_legacy_auto: Everything, StreamableHttp, Legacy, Auto;
    everything_http_legacy_forced: Everything, StreamableHttp, Legacy, Forced;
    everything_sse_legacy_auto: Everything, LegacySse, Legacy, Auto;
    everything_sse_legacy_forced: Everything, LegacySse, Legacy, Forced;
    filesystem_stdio_legacy_auto: Filesystem, Stdio, Legacy, Auto;
    filesystem_stdio_legacy_forced: Filesystem, Stdio, Legacy, Forced;
    memory_stdio_legacy_auto: Memory, Stdio, Legacy, Auto;
    memory_stdio_legacy_forced: Memory, Stdio, Legacy, Forced;
    git_stdio_legacy_forced: Git, Stdio, Legacy, Forced;
    git_stdio_modern_auto: Git, Stdio, Modern, Auto;
    git_stdio_modern_forced: Git, Stdio, Modern, Forced;
    time_stdio_legacy_forced: Time, Stdio, Legacy, Forced;
    time_stdio_modern_auto: Time, Stdio, Modern, Auto;
    time_stdio_modern_forced: Time, Stdio, Modern, Forced;
    fetch_stdio_legacy_forced: Fetch, Stdio, Legacy, Forced;
    fetch_stdio_modern_auto: Fetch, Stdio, Modern, Auto;
    fetch_stdio_modern_forced: Fetch, Stdio, Modern, Forced;
    fastmcp_stdio_legacy_forced: FastMcp, Stdio, Legacy, Forced;
    fastmcp_stdio_modern_auto: FastMcp, Stdio, Modern, Auto;
    fastmcp_stdio_modern_forced: FastMcp, Stdio, Modern, Forced;
    fastmcp_http_legacy_forced: FastMcp, StreamableHttp, Legacy, Forced;
    fastmcp_http_modern_auto: FastMcp, StreamableHttp, Modern, Auto;
    fastmcp_http_modern_forced: FastMcp, StreamableHttp, Modern, Forced;
    rmcp_stdio_legacy_auto: Rmcp, Stdio, Legacy, Auto;
    rmcp_stdio_legacy_forced: Rmcp, Stdio, Legacy, Forced;
    rmcp_stdio_modern_auto: Rmcp, Stdio, Modern, Auto;
    rmcp_stdio_modern_forced: Rmcp, Stdio, Modern, Forced;
    rmcp_http_legacy_auto: Rmcp, StreamableHttp, Legacy, Auto;
    rmcp_http_legacy_forced: Rmcp, StreamableHttp, Legacy, Forced;
    rmcp_http_modern_auto: Rmcp, StreamableHttp, Modern, Auto;
    rmcp_http_modern_forced: Rmcp, StreamableHttp, Modern, Forced;
}
