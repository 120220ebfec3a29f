//! The OAuth client: finds a server's authorization server, registers, signs in, and keeps tokens
//! valid.
//!
//! An [`Account`] is one user's access to one server. It supplies the `Authorization` header of
//! requests (`trunkline_transport::http::Credentials`), refreshes the token before it expires, and
//! answers refusals. Tokens are kept in a [`TokenStore`]. A login needs somebody who opens the
//! authorization page: an [`Interaction`].
//!
//! The protocol follows OAuth 2.1 with RFC 9728 and RFC 8414 (discovery), RFC 7591 (registration),
//! RFC 7636 (PKCE), RFC 8707 (`resource`), RFC 9207 (`iss`), RFC 7523 and RFC 8693 (assertions and
//! exchange), RFC 8628 (devices) and RFC 7009 (revocation).

mod account;
mod assertion;
mod authorization;
pub mod bench;
mod callback;
mod client_identity;
mod device;
mod discovery;
mod error;
mod exchange;
mod issuer;
mod login;
mod random;
mod reach;
mod registration;
mod resource;
mod scopes;
mod secret;
mod store;
mod token;
mod token_request;
mod web;

pub use account::{Account, AccountOptions, LoginEvent, LoginObserver, Means, NewLogin};
pub use assertion::{KeyError, SigningKey};
pub use callback::{CallbackListener, CallbackParams, Interaction, MAX_REQUEST};
pub use client_identity::{AuthMethod, ClientIdentity, ClientSource};
pub use device::{DeviceCode, DevicePrompt};
pub use discovery::{Discovered, Discovery};
pub use error::OAuthError;
pub use exchange::{Enterprise, TokenExchange};
pub use issuer::IssuerMetadata;
pub use login::LoginOptions;
pub use random::token as random_token;
pub use reach::Reach;
pub use resource::ResourceMetadata;
pub use secret::Secret;
pub use store::{
    AccountKey, FileStore, KeyKeeper, LockGuard, MemoryStore, NoKey, Sealer, SealingKey, Stamp, StoreError,
    StoredLogin, TokenStore, lock_private,
};
pub use token::Tokens;
pub use web::Web;
