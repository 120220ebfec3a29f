//! One conversation with one MCP server, of any revision.
//!
//! [`Client`] is what an application uses. [`Connection`] below it is the conversation itself, as a
//! [`Handler`](trunkline_protocol::Handler): requests in, notifications, questions and results out.

pub mod cache;
mod client;
mod connect;
mod connection;
mod conversation;
mod era;
mod facts;
mod handshake;
mod host;
mod id_hash;
mod ids;
mod inbox;
mod levels;
mod lines;
mod link;
mod listen;
mod memory;
mod options;
mod relay;
mod server;
mod state;
mod switchboard;
mod tap;
mod target;
mod tasks;
mod turns;
mod wardrobe;

pub use client::{Change, Client, Interest, Listing, Subscription, ToolCall};
pub use connection::Connection;
pub use host::{Abilities, Ability, Asked, Host, Nobody, Unattended};
pub use ids::Ids;
pub use memory::{Memory, Way};
pub use options::{Behalf, ClientInfo, Clock, ConnectOptions, DEFAULT_LIST_TTL, Exposure, Speak};
pub use server::{Carrier, ServerInfo};
pub use state::State;
pub use tap::{Direction, Tap};
pub use target::{BadTarget, CommandLine, Target};
pub use trunkline_resilience as resilience;
