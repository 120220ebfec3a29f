//! Authentication: API keys, signed tokens, and the challenge for callers without either.
//!
//! [`Gate`] is the entry point: from the `Authorization` headers and the peer address of a request
//! it derives an [`Identity`] or an [`AuthError`]. This crate does no HTTP: signing keys come from
//! a file's text or from a function of the caller, which also asks issuers about opaque tokens, and
//! challenges are strings.

mod attempts;
mod authenticator;
mod challenge;
mod error;
mod gate;
mod identity;
mod introspection;
pub mod jwt;
pub mod keys;
mod metadata;
mod principal;
mod proxies;
mod tokens;

pub use attempts::AttemptLimit;
pub use authenticator::Authenticator;
pub use challenge::Challenge;
pub use error::{AuthError, Reason};
pub use gate::{Gate, Unidentified};
pub use identity::Identity;
pub use introspection::{Introspect, Introspector, MAX_INTROSPECTION_BYTES};
pub use jwt::{JwtVerifier, TokenOptions};
pub use keys::{ApiKeys, BadKeys, GeneratedKey, WeakToken};
pub use metadata::{BadResource, ProtectedResource};
pub use principal::Principal;
pub use proxies::{BadNetwork, TrustedProxies};
pub use tokens::Tokens;
