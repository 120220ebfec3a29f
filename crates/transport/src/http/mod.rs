//! The HTTP client of all HTTP transports: pooled connections, TLS, redirects, and errors with
//! advice.
//!
//! Plain connections use HTTP/1.1 from the crate `http1`; TLS and HTTP/2 (by ALPN) use hyper. IPv4
//! and IPv6 are supported; proxies from the environment and content codings are not. Redirects are
//! followed within one origin only, so that no header or body reaches another origin. A client for
//! URLs that strangers chose has a guard of addresses (`crate::foreign`).

mod answer;
mod arriving;
mod challenge;
mod client;
mod connect_error;
mod connector;
mod credentials;
mod error;
mod events;
mod fields;
mod media;
mod options;
mod pinned;
mod redirect;
mod request_template;
mod sending;
mod status;
mod target;
mod tls;
mod tls_error;
pub mod well_known;

pub(crate) use answer::{Answer, Head};
pub use arriving::Arriving;
pub use challenge::Challenge;
pub use client::HttpClient;
pub use connect_error::{ConnectError, ConnectFailure};
pub use credentials::{Credentials, CredentialsError, Refusal, Supply, Supplying};
pub use error::{HttpError, Phase};
pub(crate) use events::EventStream;
pub use fields::Fields;
pub use media::UnexpectedContentType;
pub(crate) use media::{Media, drain, unexpected};
pub use options::{
    ClientCertificate, DEFAULT_CONNECT_TIMEOUT, DEFAULT_ENDPOINT_TIMEOUT, DEFAULT_POOL_IDLE_TIMEOUT,
    DEFAULT_POOL_MAX_IDLE, ForbiddenHeader, HttpOptions, Pem,
};
pub use redirect::{MAX_REDIRECTS, RedirectError, Redirected, Redirects};
pub(crate) use request_template::RequestTemplate;
pub(crate) use sending::{Request, Sending};
pub use status::{ERROR_BODY_LIMIT, ERROR_BODY_TIMEOUT, StatusError};
pub use target::{InvalidUrl, Target, is_this_machine};
pub use tls_error::TlsError;
