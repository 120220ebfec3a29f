//! Fetches URLs that strangers chose, without letting them reach our own network.
//!
//! [`AddressGuard`] checks every address after name resolution, and the connection is opened to
//! that checked address. Any [`HttpClient`](crate::http::HttpClient) can use it through
//! [`HttpOptions::addresses`](crate::http::HttpOptions::addresses). [`ForeignFetcher`] adds
//! redirects to other origins, size and time limits, and bounded decompression.

mod address;
mod allowed_hosts;
mod error;
mod fetcher;
mod guard;
mod gzip;
mod limits;
mod resolve;

pub use address::is_public;
pub use allowed_hosts::{AllowedHosts, InvalidHost};
pub use error::ForeignError;
pub use fetcher::{Fetched, ForeignFetcher};
pub(crate) use guard::literal;
pub use guard::{AddressGuard, AddressPolicy, AddressRefused};
pub use limits::FetchLimits;
pub use resolve::{Lookup, Resolve, SystemResolver};
