//! Checks that a session also works on other connections than the one that created it.

use super::{
    Site,
    request::{self, post},
};
use crate::{
    cause::Cause,
    diagnosis::Problem,
    evidence::Evidence,
    examination::{Checked, passed},
    frames,
};
use http::{HeaderMap, HeaderValue};
use serde_json::json;
use trunkline_protocol::{Era, method};
use trunkline_transport::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

/// Number of new connections on which the session is tried.
const TRIES: u64 = 4;

pub(super) async fn check(site: &Site<'_>, id: &HeaderValue) -> Checked<()> {
    let revision = frames::revision(Era::Legacy, site.options.speak);
    let mut headers = HeaderMap::new();
    headers.insert(MCP_SESSION_ID, id.clone());
    headers.insert(MCP_PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
    let first = request::client(site)?;
    // A failure of this notification shows in the answers to the requests that follow.
    post(site, &first, &frames::initialized(), headers.clone()).await.ok();
    let mut refused = Vec::new();
    for number in 0..TRIES {
        let ping = frames::request(10 + number, method::PING, json!({}), revision);
        let client = request::client(site)?;
        match post(site, &client, &ping, headers.clone()).await {
            Ok(reply) if matches!(reply.status.as_u16(), 400 | 404) => refused.push(reply),
            _ => {}
        }
    }
    let Some(reply) = refused.first() else {
        return passed((), format!("on {TRIES} connections"));
    };
    let summary = format!("{} of {TRIES} requests with the new session were refused", refused.len());
    Err(Box::new(
        Problem::new(Cause::SessionLost, summary)
            .proof(Evidence::fact("each request went over a connection of its own"))
            .proofs(reply.evidence())
            .fix("nginx: hash $http_mcp_session_id consistent;    # in the upstream block, so that a session stays with its process")
            .fix("or run one process, or keep sessions where all processes find them"),
    ))
}
