//! Trunkline as a library: a client for any MCP server, whatever its transport and revision.
//!
//! Connect, list, call, watch progress, close:
//!
//! ```no_run
//! use trunkline::{Client, ConnectOptions, Target, arguments};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::parse("http://127.0.0.1:3000/mcp")?;
//! let client = Client::connect(&target, ConnectOptions::default()).await?;
//! for tool in &client.tools().await?.items {
//!     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or(""));
//! }
//! let call = client.call("trigger-long-running-operation", arguments(r#"{"duration": 3, "steps": 3}"#)?);
//! let result = call.on_progress(|p| println!("{} of {:?}", p.progress, p.total)).await?;
//! for block in result.blocks() {
//!     println!("{block:?}");
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! [`Target::parse`] takes an address or a command line, [`Target::command`] the words of a
//! command. The library reads no environment: a
//! program inherits what [`ConnectOptions::environment`] holds, of which a short list is passed
//! on. Questions that a server asks during a call go to a [`Host`]; without one, the client
//! declares no such capabilities.

pub use trunkline_client::{
    Abilities, Ability, Asked, BadTarget, Carrier, Change, Client, ClientInfo, ConnectOptions, Connection,
    Direction, FrameTap, Host, Ids, Interest, KnownTransport, Listing, Memory, NoHost, RevisionChoice,
    ServerInfo, State, Subscription, Target, ToolCall, cache, resilience,
};
pub use trunkline_protocol::{
    self as protocol, Era, Fault, FaultKind, Malformed, Object, Raw, Revision, message,
};

/// The text is not a JSON object with the arguments of a call.
#[derive(Debug, thiserror::Error)]
pub enum BadArguments {
    #[error("the arguments are not valid JSON")]
    Malformed(#[from] Malformed),
    #[error("the arguments are not a JSON object")]
    NotAnObject,
}

/// Parses the arguments of a call from JSON text; numbers keep all their digits.
///
/// ```
/// let arguments = trunkline::arguments(r#"{"id": 12345678901234567890123}"#)?;
/// assert_eq!(arguments.to_raw().as_str(), r#"{"id":12345678901234567890123}"#);
/// # Ok::<_, trunkline::BadArguments>(())
/// ```
pub fn arguments(json: &str) -> Result<Object, BadArguments> {
    Raw::parse(json.to_owned())?.object().ok_or(BadArguments::NotAnObject)
}
