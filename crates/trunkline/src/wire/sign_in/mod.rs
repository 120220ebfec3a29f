//! Logins of callers at servers behind the gateway.
//!
//! A caller without a login gets a link to our own door (`desk`). The browser that opens it is
//! sent to the authorization server and comes back to us (`pages`). The tokens are kept when the
//! caller repeats a code that only that browser was shown (`asking`). Until then the server is
//! represented by a session with a single tool, which signs in (`session`). After that it has its
//! own tools, and two of ours (`signed_in`).

mod asking;
mod desk;
mod pages;
mod session;
mod signed_in;
mod visit;

pub(crate) use desk::LoginDesk;
pub(crate) use pages::pages;
pub(crate) use session::LoginConnect;
