//! Headers of callers that a server gets, and the address under which callers reach us.

use super::{Pair, Resolver, server::is_header_byte};
use crate::{keys::check::join, problem::Code};
use std::collections::BTreeMap;
use url::Url;

/// Headers that belong to our own connection with the caller, or with the server.
const OURS: &[&str] = &[
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Resolver<'_> {
    /// The headers by the caller's name in lower case. A name of our own connection is reported:
    /// the caller's credential for us is never passed on, and MCP's headers describe one hop.
    pub(super) fn caller_headers(
        &mut self,
        written: &BTreeMap<String, String>,
        both: Pair<'_>,
        key: &str,
    ) -> BTreeMap<String, String> {
        let fixed: Vec<&str> =
            both.get("headers").into_iter().flat_map(Pair::entries).map(|(name, _)| name).collect();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (theirs, sent) in written {
            let key = join(&join(key, "callerHeaders"), theirs);
            let at = both.get("callerHeaders").and_then(|all| all.get(theirs)).unwrap_or(both);
            let (theirs, target) = (theirs.to_ascii_lowercase(), sent.to_ascii_lowercase());
            // The only header of ours that another one may become: a credential for this server.
            let is_sendable = is_free(&target) || target == "authorization";
            let wrong = if !is_free(&theirs) {
                Some(format!("the header `{theirs}` of a caller cannot be passed on"))
            } else if !is_sendable {
                Some(format!("`{sent}` cannot be sent to a server as a caller's header"))
            } else if fixed.iter().any(|name| name.eq_ignore_ascii_case(sent)) {
                Some(format!("`headers` has `{sent}` already, which callers could then use or replace"))
            } else if found.values().any(|other| other.eq_ignore_ascii_case(sent)) {
                Some(format!("two headers of a caller cannot both become `{sent}`"))
            } else {
                None
            };
            if let Some(message) = wrong {
                self.report(Code::BadValue, at.written, &key, message);
            } else {
                found.insert(theirs, sent.clone());
            }
        }
        found
    }

    /// The origin of `publicUrl`.
    pub(super) fn public_url(&mut self, whole: Pair<'_>) -> Option<String> {
        let at = whole.get("publicUrl")?;
        let text = at.read.text()?;
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let is_plain = |url: &Url| {
            url.path() == "/"
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
        };
        if let Some(url) = url.filter(is_plain) {
            return Some(url.origin().ascii_serialization());
        }
        let message = "this is not a URL without a path, such as `https://mcp.example.com`";
        self.report(Code::BadValue, at.written, "publicUrl", message);
        None
    }
}

/// True for a header that is neither one of our own connection nor one of MCP.
fn is_free(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(is_header_byte)
        && !OURS.contains(&name)
        && !name.starts_with("mcp-")
        && !name.starts_with("sec-")
}

#[cfg(test)]
mod tests {
    use super::is_free;

    #[test]
    fn a_header_of_our_own_connection_is_never_passed_on() {
        for ours in ["authorization", "cookie", "host", "mcp-session-id", "mcp-param-x", "te", "", "a b"] {
            assert!(!is_free(ours), "{ours}");
        }
        assert!(is_free("x-tenant") && is_free("x-tickets-token"));
    }
}
