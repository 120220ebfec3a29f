//! Resolves the issuers of tokens.

use super::{Pair, Resolver, parts::mentioned_claims};
use crate::{
    keys::{WrittenIssuer, check::join},
    problem::Code,
    settings::{Introspection, IssuedTokens, Issuer, JwksPlace},
};
use std::collections::BTreeMap;

impl Resolver<'_> {
    pub(super) fn issuers(
        &mut self,
        written: BTreeMap<String, WrittenIssuer>,
        whole: Pair<'_>,
    ) -> BTreeMap<String, Issuer> {
        let mut issuers = BTreeMap::new();
        let mut opaque: Option<String> = None;
        for (name, issuer) in written {
            let Some(at) = whole.at(&["auth", "issuers", &name]) else { continue };
            let key = join("auth.issuers", &name);
            if issuer.introspection.is_some()
                && let Some(first) = opaque.replace(name.clone())
            {
                let message = format!("`{first}` has `introspection`, too; only one issuer can have it");
                self.report(Code::BadValue, at.written, &key, message);
            }
            if let Some(issuer) = self.issuer(issuer, at, &key) {
                issuers.insert(name, Issuer { claims: mentioned_claims(whole), ..issuer });
            }
        }
        issuers
    }

    fn issuer(&mut self, written: WrittenIssuer, at: Pair<'_>, key: &str) -> Option<Issuer> {
        for (name, given) in [("issuer", &written.issuer), ("audience", &written.audience)] {
            if given.as_ref().is_none_or(String::is_empty) {
                self.report(Code::Missing, at.written, key, format!("`{name}` is needed here"));
            }
        }
        let tokens = match (written.jwks, written.introspection) {
            (Some(jwks), None) => IssuedTokens::Signed(JwksPlace::parse(jwks)),
            (None, Some(endpoint)) => {
                let inner = at.get("introspection")?;
                let key = join(key, "introspection");
                let secret = inner.get("clientSecret").filter(|secret| secret.read.text().is_some());
                for (name, is_given) in [
                    ("url", endpoint.url.is_some()),
                    ("clientId", endpoint.client_id.is_some()),
                    ("clientSecret", secret.is_some()),
                ] {
                    if !is_given {
                        self.report(Code::Missing, inner.written, &key, format!("`{name}` is needed here"));
                    }
                }
                let client_secret = secret?.secret();
                IssuedTokens::Opaque(Introspection {
                    url: endpoint.url?,
                    client_id: endpoint.client_id?,
                    client_secret,
                    keep: endpoint.keep,
                })
            }
            (None, None) => {
                self.report(Code::Missing, at.written, key, "`jwks` or `introspection` is needed here");
                return None;
            }
            (Some(_), Some(_)) => {
                let message = "`jwks` and `introspection` exclude each other; use two issuers";
                self.report(Code::BadValue, at.written, key, message);
                return None;
            }
        };
        Some(Issuer {
            issuer: written.issuer?,
            audience: written.audience?,
            tokens,
            roles_claim: written.roles_claim.unwrap_or_else(|| "roles".to_owned()),
            roles: written.roles,
            scopes: written.scopes,
            claims: Vec::new(),
        })
    }
}
