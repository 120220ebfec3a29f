//! Serves a [`Handler`](trunkline_protocol::Handler) to clients of every protocol revision.
//!
//! Handlers speak only the newest revision. `era` lifts the requests of legacy clients to it and
//! lowers the replies; `http` and `stdio` are the transports.

mod access;
mod connection_slots;
mod control;
mod duplex;
mod endpoints;
mod era;
mod execution;
mod guard;
mod http;
mod metrics;
mod options;
mod outgoing;
mod phase;
mod rest;
mod server;
mod service;
mod session;
mod stdio;
mod subject;
mod tasks;
mod tls;
mod workers;

pub use access::{Access, AccessHook, AccessTransport, CallEnding, Logged};
pub use guard::{Admission, BindRefused, Denied, Encryption, Gate, Guard, Peer};
pub use options::{
    BrowserPages, BrowserRequest, CallerTest, Carry, Command, Control, Controlled, Eras, Handshake, Limits,
    Page, QuotaOf, Render, ServeOptions, ServerOf,
};
pub use rest::{RESERVED_PATHS, RestLimits};
pub use server::{BindError, Listener, Server, Shutdown};
pub use stdio::serve_stdio;
pub use tls::{BadTls, CertificateDemand, ClientAuthorities, ClientCertificate, Tls, TlsFiles};
pub use workers::{WorkerThreads, Workers};
