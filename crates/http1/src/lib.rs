//! HTTP/1.1 over any byte stream: server connections, client connections and their pool.

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
