//! The client side: a [`Connection`] sends one request at a time; a [`Pool`] keeps idle ones.
//!
//! The caller that waits for a response polls the connection, so no other task has to be woken.
//! A connection goes back to its pool when the response was read to its exact end.

mod connection;
mod head;
mod pool;
mod raw_headers;
mod response_body;

pub use connection::{Connection, RequestError, ResponseError};
pub use head::{HeadError, ResponseHead, Reuse};
pub use pool::Pool;
pub use raw_headers::RawHeaders;
pub use response_body::{BodyError, ResponseBody};
