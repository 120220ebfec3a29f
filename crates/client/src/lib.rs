//! One conversation with one MCP server, of any revision.

pub mod cache;
pub mod resilience;
