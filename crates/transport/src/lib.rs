//! Sends and receives MCP frames over stdio, Streamable HTTP and HTTP+SSE. This crate knows no MCP
//! method.

pub mod body;
pub mod child;
pub mod foreign;
pub mod headers;
pub mod http;
pub mod legacy_sse;
pub mod sse;
pub mod stdio;
pub mod streamable_http;
