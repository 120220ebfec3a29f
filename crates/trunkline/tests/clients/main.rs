//! Third-party clients use the server over every transport and in every era that they support.
//!
//! A row is a client, a transport and an era; the client is told the era and must end up in that
//! era's newest revision. It lists the tools, reads a file, finds its text in the content and in
//! the structured content, makes a call with bad arguments, which is an error that names them,
//! answers a question that a tool asks in mid-call, and closes. A client that was started here
//! must end by itself, and over stdio its server with it.
//!
//! | client | transport | era | list | call | structured | bad call | answer | close |
//! |---|---|---|---|---|---|---|---|---|
//! | TypeScript SDK 1 | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 1 | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 1 | HTTP+SSE | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 2 | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 2 | stdio | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 2 | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 2 | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | TypeScript SDK 2 | HTTP+SSE | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | Python SDK 2 | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | Python SDK 2 | stdio | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | Python SDK 2 | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | Python SDK 2 | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | Python SDK 2 | HTTP+SSE | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | FastMCP 4 | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | FastMCP 4 | stdio | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | FastMCP 4 | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | FastMCP 4 | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | FastMCP 4 | HTTP+SSE | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp 3 | stdio | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp 3 | stdio | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp 3 | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | rmcp 3 | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | Inspector CLI | stdio | legacy | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | Inspector CLI | stdio | modern | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | Inspector CLI | Streamable HTTP | legacy | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | Inspector CLI | Streamable HTTP | modern | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//! | Inspector CLI | HTTP+SSE | legacy | ✓ | ✓ | ✓ | ✓ |   | ✓ |
//!
//! HTTP+SSE is of the legacy era only. The TypeScript SDK 1 ends with that era, and rmcp has no
//! client for HTTP+SSE. The Inspector's command line cannot answer questions.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod asking;
mod cell;
mod exercise;
mod inspector;
#[path = "../support/installed.rs"]
mod installed;
mod peers;
mod rust;
mod served;
mod table;
mod visit;

use cell::{Carrier, Cell, Client};
use trunkline_protocol::Era;

/// Each line is a cell of the matrix and a test of that name.
macro_rules! cells {
    ($($name:ident: $client:ident, $carrier:ident, $era:ident;)*) => {
        const CELLS: &[Cell] = &[$(Cell {
            client: Client::$client,
            carrier: Carrier::$carrier,
            era: Era::$era,
        }),*];

        $(
            #[tokio::test]
            async fn $name() {
                let (client, carrier) = (Client::$client, Carrier::$carrier);
                exercise::exercise(Cell { client, carrier, era: Era::$era }).await;
            }
        )*
    };
}

cells! {
    typescript1_stdio_legacy: TypeScript1, Stdio, Legacy;
    typescript1_http_legacy: TypeScript1, Http, Legacy;
    typescript1_sse_legacy: TypeScript1, Sse, Legacy;
    typescript2_stdio_legacy: TypeScript2, Stdio, Legacy;
    typescript2_stdio_modern: TypeScript2, Stdio, Modern;
    typescript2_http_legacy: TypeScript2, Http, Legacy;
    typescript2_http_modern: TypeScript2, Http, Modern;
    typescript2_sse_legacy: TypeScript2, Sse, Legacy;
    python_stdio_legacy: Python, Stdio, Legacy;
    python_stdio_modern: Python, Stdio, Modern;
    python_http_legacy: Python, Http, Legacy;
    python_http_modern: Python, Http, Modern;
    python_sse_legacy: Python, Sse, Legacy;
    fastmcp_stdio_legacy: FastMcp, Stdio, Legacy;
    fastmcp_stdio_modern: FastMcp, Stdio, Modern;
    fastmcp_http_legacy: FastMcp, Http, Legacy;
    fastmcp_http_modern: FastMcp, Http, Modern;
    fastmcp_sse_legacy: FastMcp, Sse, Legacy;
    rmcp_stdio_legacy: Rmcp, Stdio, Legacy;
    rmcp_stdio_modern: Rmcp, Stdio, Modern;
    rmcp_http_legacy: Rmcp, Http, Legacy;
    rmcp_http_modern: Rmcp, Http, Modern;
    inspector_stdio_legacy: Inspector, Stdio, Legacy;
    inspector_stdio_modern: Inspector, Stdio, Modern;
    inspector_http_legacy: Inspector, Http, Legacy;
    inspector_http_modern: Inspector, Http, Modern;
    inspector_sse_legacy: Inspector, Sse, Legacy;
}
