//! The parts of callers' requests that configured servers need.

use http::{HeaderMap, HeaderName, header};
use parking_lot::RwLock;
use std::{collections::BTreeMap, sync::Arc};
use trunkline_config::{GrantSetting, OAuth, Reach, Settings};
use trunkline_protocol::Caller;
use trunkline_serve::Carry;

/// The headers and tokens that are kept with a caller, by the current settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct CarriedParts(Arc<RwLock<Arc<Wanted>>>);

#[derive(Debug, Default)]
struct Wanted {
    headers: Vec<HeaderName>,
    /// True if the token of a caller is exchanged for that of a server.
    token: bool,
}

impl CarriedParts {
    pub(crate) fn configure(&self, settings: &Settings) {
        let mut wanted = Wanted::default();
        for server in settings.servers.values() {
            let Reach::Remote(remote) = &server.reach else { continue };
            // The names were checked with the settings.
            wanted.headers.extend(remote.caller_headers.keys().filter_map(|name| name.parse().ok()));
            wanted.token |=
                matches!(&remote.oauth, OAuth::Auto(client) if client.grant == GrantSetting::TokenExchange);
        }
        *self.0.write() = Arc::new(wanted);
    }

    pub(crate) fn carry(&self) -> Carry {
        let parts = self.clone();
        Arc::new(move |caller, headers| {
            let wanted = parts.0.read().clone();
            if wanted.headers.is_empty() && !wanted.token {
                return caller;
            }
            let kept: BTreeMap<String, String> = wanted
                .headers
                .iter()
                .filter_map(|name| Some((name.to_string(), value(headers, name)?)))
                .collect();
            let token = bearer(&caller, headers).filter(|_| wanted.token);
            if kept.is_empty() && token.is_none() {
                return caller;
            }
            Arc::new(caller.carrying(kept, token))
        })
    }
}

/// All values of a header as one, as HTTP allows; `None` if it is absent or not text.
fn value(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Option<Vec<&str>> = headers.get_all(name).iter().map(|value| value.to_str().ok()).collect();
    values.filter(|values| !values.is_empty()).map(|values| values.join(", "))
}

/// The token of a caller that was identified by one. A key is never passed to anybody.
fn bearer(caller: &Caller, headers: &HeaderMap) -> Option<Arc<str>> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (caller.id.starts_with("jwt:") && scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim().into())
}
