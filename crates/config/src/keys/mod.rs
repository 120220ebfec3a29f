//! The keys of `trunkline.json`, declared once as types. The JSON Schema, the checks and the
//! reference page are generated from them.

pub(crate) mod check;
mod document;
pub(crate) mod kind;
pub(crate) mod project;
mod reference;
pub(crate) mod schema;
mod server;

pub(crate) use check::nearest;
pub(crate) use document::{
    WrittenAuth, WrittenHook, WrittenIssuer, WrittenStore, WrittenTelemetry, WrittenTls,
};
pub use kind::parse_time;
pub use reference::reference_page;
pub use schema::{schema, schema_json};
pub(crate) use server::{WrittenOAuth, WrittenServer};
