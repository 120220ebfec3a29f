//! The whole file.

use super::{kind, server::WrittenServer};
use crate::settings::{AccessLog, Audit, Limits, Role, ServerOptions, View};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// Trunkline's configuration: servers, how they are run, what of them is shown to whom.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is read by way of the schema that is made from it")]
pub(crate) struct Document {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// Where to listen: an address and a port. `null`: 127.0.0.1:8425, or the next free port.
    #[schemars(schema_with = "kind::address")]
    listen: Option<String>,
    /// The Model Context Protocol.
    mcp: Mcp,
    /// What holds for every server that says nothing else.
    defaults: ServerOptions,
    /// Parts of what is offered, each at `/mcp/<view>`. Names are 1 to 64 letters, digits, `-` or `_`; `server` is taken.
    views: BTreeMap<String, View>,
    /// Who may use what. Without any role, everybody who is let in may use everything.
    roles: BTreeMap<String, Role>,
    /// The role of callers who have no other one.
    default_role: Option<String>,
    /// Who is let in. Without keys and tokens: programs of this machine only.
    auth: WrittenAuth,
    /// Bounds on what clients may make the gateway hold or wait for.
    limits: Limits,
    /// The trail of who called what.
    audit: Audit,
    /// One line for each request.
    access_log: AccessLog,
    /// Where traces, metrics and logs go.
    telemetry: WrittenTelemetry,
}

/// The Model Context Protocol.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is read by way of the schema that is made from it")]
pub(crate) struct Mcp {
    /// The servers, by name: 1 to 32 letters, digits or `-`. Tools are called `<server>_<tool>`.
    servers: BTreeMap<String, WrittenServer>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenAuth {
    /// The file of API keys: `{"keys": [{"id", "sha256", "roles", "scopes", "expires"}]}`.
    #[schemars(schema_with = "kind::path")]
    pub(crate) keys: Option<PathBuf>,
    /// Signed tokens.
    #[schemars(schema_with = "jwt")]
    pub(crate) jwt: Option<WrittenJwt>,
    /// Further host names that the gateway answers under, such as that of a proxy before it.
    #[schemars(schema_with = "kind::names")]
    pub(crate) hosts: Vec<String>,
    /// Origins whose pages may call the gateway.
    #[schemars(schema_with = "kind::names")]
    pub(crate) origins: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenJwt {
    /// Who makes the tokens. Needed.
    #[schemars(schema_with = "kind::url")]
    pub(crate) issuer: Option<String>,
    /// Whom they must be made out to: the gateway's own address. Needed.
    pub(crate) audience: Option<String>,
    /// The issuer's public keys: a file or an `https` address. Needed.
    #[schemars(schema_with = "kind::path_or_url")]
    pub(crate) jwks: Option<String>,
    /// The claim that lists roles; `roles` unless it is given. Dots reach into objects.
    pub(crate) roles_claim: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenTelemetry {
    /// The OTLP endpoint (HTTP), such as `http://127.0.0.1:4318`. `null`: nothing is sent.
    #[schemars(schema_with = "kind::url")]
    pub(crate) endpoint: Option<String>,
    /// Headers sent there.
    #[schemars(schema_with = "kind::secrets")]
    #[expect(
        dead_code,
        reason = "headers are taken from the tree, where it is known what of them may be shown"
    )]
    pub(crate) headers: BTreeMap<String, String>,
    /// What we are called there.
    #[schemars(length(min = 1, max = 128))]
    pub(crate) service_name: String,
    /// The share of traces that are kept.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) sample: f64,
    /// How long sending may take.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub(crate) timeout: Duration,
}

fn jwt(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = WrittenJwt::json_schema(generator);
    schema.insert("type".to_owned(), serde_json::json!(["object", "null"]));
    schema
}
