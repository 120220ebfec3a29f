//! The options of `serve` that are also settings, as the topmost layer of the configuration.

use crate::commands::serve::{Args, ErrorsChoice, GuardArgs};
use serde_json::{Value, json};
use trunkline_config::{Auth, ClientCertificates, Flag, JwksPlace, Jwt, Tls};

/// The claim of a token that names the caller's roles.
const ROLES_CLAIM: &str = "roles";

/// The settings given as options of `serve`.
pub(crate) fn of(args: &Args) -> Vec<Flag> {
    let flag =
        |name: &str, key: &str, value: Value| Flag { name: name.to_owned(), key: key.to_owned(), value };
    let mut flags = Vec::new();
    if let Some(address) = args.listen {
        flags.push(flag("--listen", "listen", json!(address.to_string())));
    }
    if args.no_handshake {
        flags.push(flag("--no-handshake", "handshake", json!("optional")));
    }
    if let Some(errors) = args.errors {
        let form = match errors {
            ErrorsChoice::Standard => "standard",
            ErrorsChoice::Classic => "classic",
        };
        flags.push(flag("--errors", "errors", json!(form)));
    }
    let guard = &args.guard;
    if let Some(tls) = tls(guard) {
        flags.push(flag("--tls-cert", "tls", json!(tls)));
    }
    if guard.insecure_http {
        flags.push(flag("--insecure-http", "insecureHttp", json!(true)));
    }
    if let Some(keys) = &guard.keys {
        flags.push(flag("--keys", "auth.keys", json!(keys)));
    }
    if let (Some(issuer), Some(audience), Some(jwks)) = (&guard.issuer, &guard.audience, &guard.jwks) {
        let jwt = json!({"issuer": issuer, "audience": audience, "jwks": jwks});
        flags.push(flag("--issuer", "auth.jwt", jwt));
    }
    if !guard.hosts.is_empty() {
        flags.push(flag("--host", "auth.hosts", json!(guard.hosts)));
    }
    if !guard.origins.is_empty() {
        flags.push(flag("--origin", "auth.origins", json!(guard.origins)));
    }
    if let Some(calls) = args.record.calls_per_minute {
        flags.push(flag("--calls-per-minute", "limits.perCaller", json!({"calls": calls, "per": "1m"})));
    }
    if let Some(calls) = args.record.tool_calls_per_minute {
        flags.push(flag("--tool-calls-per-minute", "limits.perTool", json!({"calls": calls, "per": "1m"})));
    }
    if let Some(folder) = &args.record.audit {
        flags.push(flag("--audit", "audit.directory", json!(folder)));
    }
    if args.record.no_audit {
        flags.push(flag("--no-audit", "audit.enabled", json!(false)));
    }
    flags
}

/// TLS settings from the options.
pub(crate) fn tls(guard: &GuardArgs) -> Option<Tls> {
    let (Some(certificate), Some(key)) = (&guard.tls_cert, &guard.tls_key) else { return None };
    Some(Tls {
        certificate: certificate.clone(),
        key: key.clone(),
        client_authorities: guard.client_ca.clone(),
        client_certificates: ClientCertificates::default(),
    })
}

/// Authentication settings from the options, for commands that read no configuration.
pub(crate) fn auth(guard: &GuardArgs) -> Auth {
    let jwt = match (&guard.issuer, &guard.audience, &guard.jwks) {
        (Some(issuer), Some(audience), Some(jwks)) => Some(Jwt {
            issuer: issuer.clone(),
            audience: audience.clone(),
            jwks: JwksPlace::parse(jwks.clone()),
            roles_claim: ROLES_CLAIM.to_owned(),
            scopes: Vec::new(),
            claims: Vec::new(),
        }),
        _ => None,
    };
    Auth {
        keys: guard.keys.clone(),
        jwt,
        issuers: std::collections::BTreeMap::new(),
        hosts: guard.hosts.clone(),
        origins: guard.origins.clone(),
        trusted_proxies: Vec::new(),
        state_key: None,
    }
}
