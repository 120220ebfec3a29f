//! Resolves views, roles, authentication and telemetry.

use super::{Pair, Resolver};
use crate::{
    keys::{WrittenAuth, WrittenTelemetry, check::join},
    problem::Code,
    settings::{Auth, JwksPlace, Jwt, Role, Telemetry, View},
};
use std::collections::BTreeMap;

/// Reserved view names: `/mcp/server/…` is used for single servers, the others for REST.
const TAKEN_VIEWS: [&str; 3] = ["server", "tools", "executions"];
const MAX_VIEW_NAME: usize = 64;

impl Resolver<'_> {
    pub(super) fn views(&mut self, whole: Pair<'_>) -> BTreeMap<String, View> {
        let mut views = BTreeMap::new();
        let servers: Vec<String> = server_names(whole);
        for (name, written) in whole.get("views").into_iter().flat_map(Pair::entries) {
            let key = join("views", name);
            if !is_view_name(name) {
                let message = format!(
                    "`{name}` cannot name a view: 1 to {MAX_VIEW_NAME} letters, digits, `-` or `_`, and none of {}",
                    TAKEN_VIEWS.map(|taken| format!("`{taken}`")).join(", ")
                );
                self.report(Code::BadValue, written.written, &key, message);
            }
            for server in written.get("servers").into_iter().flat_map(Pair::items) {
                let Some(text) = server.read.text() else { continue };
                if !is_pattern(text) && !servers.iter().any(|known| known == text) {
                    let near = Self::nearest(text, &servers);
                    self.report(
                        Code::UnknownReference,
                        server.written,
                        &join(&key, "servers"),
                        format!("there is no server `{text}`"),
                    )
                    .suggestion = near;
                }
            }
            if let Some(view) = self.typed(written, &key) {
                views.insert(name.to_owned(), view);
            }
        }
        views
    }

    pub(super) fn roles(&mut self, whole: Pair<'_>) -> BTreeMap<String, Role> {
        let mut roles = BTreeMap::new();
        for (name, written) in whole.get("roles").into_iter().flat_map(Pair::entries) {
            let key = join("roles", name);
            if name.trim().is_empty() {
                self.report(Code::BadValue, written.written, &key, "a role needs a name");
            }
            if let Some(role) = self.typed(written, &key) {
                roles.insert(name.to_owned(), role);
            }
        }
        roles
    }

    pub(super) fn default_role(&mut self, whole: Pair<'_>) -> Option<String> {
        let written = whole.get("defaultRole")?;
        let role = written.read.text()?.to_owned();
        let known: Vec<String> =
            whole.get("roles").into_iter().flat_map(Pair::entries).map(|(name, _)| name.to_owned()).collect();
        if !known.contains(&role) {
            let near = Self::nearest(&role, &known);
            self.report(
                Code::UnknownReference,
                written.written,
                "defaultRole",
                format!("there is no role `{role}`"),
            )
            .suggestion = near;
        }
        Some(role)
    }

    pub(super) fn auth(&mut self, whole: Pair<'_>) -> Option<Auth> {
        let part = whole.get("auth")?;
        let written: WrittenAuth = self.typed(part, "auth")?;
        let jwt = match (written.jwt, part.get("jwt")) {
            (Some(jwt), Some(at)) => {
                for (key, given) in
                    [("issuer", &jwt.issuer), ("audience", &jwt.audience), ("jwks", &jwt.jwks)]
                {
                    if given.as_ref().is_none_or(String::is_empty) {
                        self.report(Code::Missing, at.written, "auth.jwt", format!("`{key}` is needed here"));
                    }
                }
                let place = |text: String| {
                    if text.contains("://") { JwksPlace::Url(text) } else { JwksPlace::File(text.into()) }
                };
                Some(Jwt {
                    issuer: jwt.issuer.unwrap_or_default(),
                    audience: jwt.audience.unwrap_or_default(),
                    jwks: place(jwt.jwks.unwrap_or_default()),
                    roles_claim: jwt.roles_claim.unwrap_or_else(|| "roles".to_owned()),
                    scopes: jwt.scopes,
                })
            }
            _ => None,
        };
        Some(Auth {
            keys: written.keys,
            jwt,
            hosts: written.hosts,
            origins: written.origins,
            trusted_proxies: written.trusted_proxies,
            state_key: written.state_key,
        })
    }

    pub(super) fn telemetry(&mut self, whole: Pair<'_>) -> Option<Telemetry> {
        let part = whole.get("telemetry")?;
        let written: WrittenTelemetry = self.typed(part, "telemetry")?;
        Some(Telemetry {
            endpoint: written.endpoint,
            headers: self.headers(part.get("headers"), "telemetry.headers"),
            service_name: written.service_name,
            sample: written.sample,
            timeout: written.timeout,
        })
    }
}

fn server_names(whole: Pair<'_>) -> Vec<String> {
    let servers = whole.at(&["mcp", "servers"]);
    servers.into_iter().flat_map(Pair::entries).map(|(name, _)| name.to_owned()).collect()
}

fn is_view_name(name: &str) -> bool {
    !TAKEN_VIEWS.contains(&name)
        && (1..=MAX_VIEW_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// True if a text is a pattern rather than a single name.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '!'])
}
