//! One conversation with one MCP server, of any revision.
//!
//! [`Client`] is what an application uses. [`Connection`] below it is the conversation itself, as
//! a [`Handler`](trunkline_protocol::Handler): requests in, notifications, questions and results
//! out.

pub mod cache;
mod client;
mod connect;
mod connection;
mod connector;
mod conversation;
mod era;
mod facts;
mod frame_tap;
mod handshake;
mod host;
mod ids;
mod inbox;
mod item_filter;
mod levels;
mod line_lock;
mod lines;
mod link;
mod listen;
mod memory;
mod meta_cache;
mod options;
pub mod raw;
mod relay;
mod server;
mod state;
mod switchboard;
mod target;
mod tasks;

pub use client::{Change, Client, Interest, Listing, Subscription, ToolCall};
pub use connection::Connection;
pub use connector::Connector;
pub use frame_tap::{Direction, FrameTap};
pub use host::{Abilities, Ability, Asked, Host, NoHost, Unattended};
pub use ids::Ids;
pub use item_filter::{ItemFilter, ItemKind, missing};
pub use memory::{KnownTransport, Memory};
pub use options::{
    Behalf, ClientInfo, ConnectOptions, DEFAULT_LIST_TTL, Exposure, RevisionChoice, TimeoutOwner,
};
pub use server::{Carrier, ServerInfo};
pub use state::State;
pub use target::{BadTarget, CommandLine, Target};
pub use trunkline_resilience as resilience;
pub use trunkline_transport::http::is_this_machine;
