//! The server side: one [`Connection`] reads requests and writes responses; a [`Service`] answers.

mod body_reader;
mod connection;
mod date;
mod head;
mod io;
mod output;
mod request_body;
mod response;
mod scratch;
mod service;

pub use connection::{Connection, ConnectionError, FIRST_REQUEST_GRACE, KeepAlive};
pub use head::HeadError;
pub(crate) use head::{RequestHead, parse};
pub use request_body::{BodyChannel, RequestBody};
pub use service::{HalfClose, Options, Pending, ResponseBody, Service};
