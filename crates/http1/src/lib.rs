//! HTTP/1.1 over any byte stream: server connections, client connections and their pool.
//!
//! [`server::Connection`] and [`client::Connection`] are generic over `AsyncRead + AsyncWrite`, so
//! TCP, TLS or a pipe in memory fits under them. The crate knows nothing of MCP.
//!
//! # Why not hyper
//!
//! hyper is what we use for TLS and HTTP/2. For plain HTTP/1.1 three things decided against it:
//!
//! - **CPU.** `cargo xtask bench http1` calls the same echo service over loopback TCP, with 32
//!   connections, our allocator and one thread per side. CPU per request, system calls included:
//!
//!   | side | this crate | hyper | ratio |
//!   |---|---|---|---|
//!   | server | 7.2 µs | 8.3 µs | 0.87 |
//!   | client | 6.7 µs | 9.5 µs | 0.71 |
//!
//!   About four fifths of our time is spent in system calls that both need. The client gains most:
//!   hyper needs a task per connection and two channels, and each response wakes that task and then
//!   the caller. A gateway pays for both sides in each call.
//! - **Memory.** An idle connection holds no buffers; hyper keeps a read buffer of 8 KiB.
//! - **Control.** The service decides what a half-close means, connections can be evicted and
//!   drained, a refused body can be skipped to keep its connection, and messages that hyper accepts
//!   but another parser could read differently are refused: `Content-Length` together with
//!   `Transfer-Encoding`, repeated lengths, lines that end with a lone LF.
//!
//! The fuzz targets `http_request` and `http_answer` compare both sides with hyper: a message that
//! is accepted here must mean the same there.

pub mod client;
pub mod framing;
pub mod server;
#[doc(hidden)]
pub mod trial;

/// Appends one header line.
pub fn write_header(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
