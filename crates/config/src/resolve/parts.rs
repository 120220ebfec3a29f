//! Resolves views, roles, authentication, telemetry and the store.

use super::{Pair, Resolver};
use crate::{
    expand::{has_reference, shown},
    keys::{WrittenAuth, WrittenStore, WrittenTelemetry, WrittenTls, check::join},
    looks,
    problem::Code,
    secret::Secret,
    settings::{Auth, JwksPlace, Jwt, Policy, Role, StorePlace, Telemetry, Tls, View},
};
use std::collections::{BTreeMap, BTreeSet};

/// Reserved view names: `/mcp/server/…` is used for single servers, the others for REST.
const TAKEN_VIEWS: [&str; 3] = ["server", "tools", "executions"];
const MAX_VIEW_NAME: usize = 64;
/// Schemes of the addresses of Redis and Valkey servers.
const STORE_SCHEMES: [&str; 2] = ["redis://", "rediss://"];

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

    pub(super) fn tls(&mut self, whole: Pair<'_>) -> Option<Tls> {
        let part = whole.get("tls")?;
        let written: WrittenTls = self.typed::<Option<_>>(part, "tls")??;
        for (key, given) in [("certificate", &written.certificate), ("key", &written.key)] {
            if given.is_none() {
                self.report(Code::Missing, part.written, "tls", format!("`{key}` is needed here"));
            }
        }
        Some(Tls {
            certificate: written.certificate?,
            key: written.key?,
            client_authorities: written.client_authorities,
            client_certificates: written.client_certificates,
        })
    }

    pub(super) fn policy(&mut self, whole: Pair<'_>) -> Option<Policy> {
        let part = whole.get("policy")?;
        let mut policy: Policy = self.typed(part, "policy")?;
        let written = part.get("rules").into_iter().flat_map(Pair::items);
        for (rule, written) in policy.rules.iter_mut().zip(written) {
            rule.origin = Some(self.layered.sources.origin(written.written.place));
        }
        Some(policy)
    }

    pub(super) fn auth(&mut self, whole: Pair<'_>) -> Option<Auth> {
        let part = whole.get("auth")?;
        let written: WrittenAuth = self.typed(part, "auth")?;
        let issuers = self.issuers(written.issuers, whole);
        let jwt = match (written.jwt, part.get("jwt")) {
            (Some(jwt), Some(at)) => {
                for (key, given) in
                    [("issuer", &jwt.issuer), ("audience", &jwt.audience), ("jwks", &jwt.jwks)]
                {
                    if given.as_ref().is_none_or(String::is_empty) {
                        self.report(Code::Missing, at.written, "auth.jwt", format!("`{key}` is needed here"));
                    }
                }
                Some(Jwt {
                    issuer: jwt.issuer.unwrap_or_default(),
                    audience: jwt.audience.unwrap_or_default(),
                    jwks: JwksPlace::parse(jwt.jwks.unwrap_or_default()),
                    roles_claim: jwt.roles_claim.unwrap_or_else(|| "roles".to_owned()),
                    scopes: jwt.scopes,
                    claims: mentioned_claims(whole),
                })
            }
            _ => None,
        };
        Some(Auth {
            keys: written.keys,
            jwt,
            issuers,
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

    pub(super) fn store(&mut self, whole: Pair<'_>) -> Option<StorePlace> {
        let part = whole.get("store")?;
        let written: WrittenStore = self.typed(part, "store")?;
        let at = part.get("url").map_or(part.written, |url| url.written);
        match (written.path, written.url) {
            (None, None) => Some(StorePlace::Memory),
            (Some(path), None) => Some(StorePlace::Path(path)),
            (None, Some(url)) => {
                if !STORE_SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
                    let message = "the address of a store begins with `redis://` or `rediss://`";
                    self.report(Code::BadValue, at, "store.url", message);
                }
                let text = at.text().unwrap_or_default();
                let safe = if has_reference(text) { shown(text) } else { url.clone() };
                let safe = looks::masked_address(&safe).unwrap_or(safe);
                Some(StorePlace::Url(Secret::new(url, safe)))
            }
            (Some(_), Some(_)) => {
                let message = "a store has either a `path` or a `url`, not both";
                self.report(Code::BadValue, at, "store.url", message).suggestion =
                    Some("set the other one to null".to_owned());
                None
            }
        }
    }
}

/// The claims that rules of the policy mention.
pub(super) fn mentioned_claims(whole: Pair<'_>) -> Vec<String> {
    let rules = whole.at(&["policy", "rules"]).into_iter().flat_map(Pair::items);
    let claims = rules.filter_map(|rule| rule.get("claims")).flat_map(Pair::entries);
    let names: BTreeSet<String> = claims.map(|(name, _)| name.to_owned()).collect();
    names.into_iter().collect()
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
