//! HTTP+SSE, the transport of 2024-11-05: one event stream to read from, and an endpoint, named by
//! the stream, to post to.

mod connection;
mod receiver;
mod sender;

pub use connection::Connection;
pub use receiver::Receiver;
pub use sender::Sender;
