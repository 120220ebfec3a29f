//! Bytes to MCP frames and back. Knows no MCP method: what a frame means is left to its callers.

pub mod child;
pub mod stdio;
