//! Requests without a token and with wrong tokens, and the authorization metadata.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Mode},
    wire::{Expect, HttpAsk, Speaker, bytes, initialize_params, request},
};
use serde_json::{Value, json};
use trunkline_protocol::{Era, Revision};
use trunkline_transport::http::well_known::{issuer_places, resource_places};
use url::Url;

/// A request without credentials.
pub(crate) const AUTH_BARE_STEP: Step = Step("without-credentials");
/// A request with a made-up token; the variant says where the token is.
pub(crate) const AUTH_GARBAGE_STEP: Step = Step("wrong-token");
/// Each method without credentials, where the first was refused; the variant is the method.
pub(crate) const AUTH_EACH_STEP: Step = Step("method-without-credentials");
/// The tool list without the given credentials, if the server answers without them.
pub(crate) const AUTH_LIST_STEP: Step = Step("list-without-credentials");
/// The protected-resource metadata (RFC 9728).
pub(crate) const AUTH_RESOURCE_STEP: Step = Step("protected-resource-metadata");
/// The authorization server's metadata (RFC 8414); the variant is the issuer.
pub(crate) const AUTH_ISSUER_STEP: Step = Step("authorization-server-metadata");

/// Maximum number of issuers asked.
const ISSUERS: usize = 2;

const GARBAGE: &str = "trunkline-lint-no-such-token";

/// An unsigned JWT that expired in 1970.
const EXPIRED: &str = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJ0cnVua2xpbmUtbGludCIsImV4cCI6MX0.";

pub(crate) static AUTHORIZATION: Probe =
    Probe::new("authorization", Mode::Negative, |stage| Box::pin(run(stage)))
        .carriers(Carriers::StreamableHttp);

async fn run(stage: &mut Stage) {
    let Some(dial) = stage.known.dial.without_credentials() else { return };
    let Some(url) = dial.address().cloned() else { return };
    let mut speaker = dial.open(AUTHORIZATION.name, stage.era()).await;
    let id = speaker.fresh_id();
    let message = match stage.era() {
        Era::Modern => request(Era::Modern, &id, "server/discover", json!({})),
        Era::Legacy => request(Era::Legacy, &id, "tools/list", json!({})),
    };
    let body = bytes(&message);
    let bare = speaker.http((AUTH_BARE_STEP, ""), HttpAsk::post(body.clone()), Expect::Any).await;
    if bare.http.as_ref().is_some_and(|http| http.status == 401) {
        let ask = HttpAsk::post(body.clone()).header("authorization", format!("Bearer {GARBAGE}"));
        speaker.http((AUTH_GARBAGE_STEP, "header"), ask, Expect::Any).await;
        let ask = HttpAsk::post(body.clone()).header("authorization", format!("Bearer {EXPIRED}"));
        speaker.http((AUTH_GARBAGE_STEP, "header, expired and not signed"), ask, Expect::Any).await;
        each(&mut speaker, stage.era()).await;
        let mut query = url.clone();
        query.query_pairs_mut().append_pair("access_token", GARBAGE);
        speaker.http_at(&query, (AUTH_GARBAGE_STEP, "query"), HttpAsk::post(body)).await;
        let challenge = bare.http.as_ref().and_then(|http| http.header("www-authenticate"));
        for place in resource_places(&url, challenge) {
            let heard = speaker.fetch(&place, (AUTH_RESOURCE_STEP, place.as_str())).await;
            let Some(document) = heard else { continue };
            for issuer in issuers(&document) {
                for place in issuer_places(&issuer) {
                    if speaker.fetch(&place, (AUTH_ISSUER_STEP, issuer.as_str())).await.is_some() {
                        break;
                    }
                }
            }
            break;
        }
    } else if stage.known.dial.has_credentials() && stage.era() == Era::Modern {
        let id = speaker.fresh_id();
        let list = request(Era::Modern, &id, List::Tools.method(), json!({}));
        speaker.http((AUTH_LIST_STEP, ""), HttpAsk::post(bytes(&list)), Expect::Answer(id)).await;
    }
    stage.done(speaker).await;
}

/// Sends other methods without credentials. The only tool it calls does not exist.
async fn each(speaker: &mut Speaker, era: Era) {
    let first = match era {
        Era::Modern => ("server/discover", json!({})),
        Era::Legacy => ("initialize", initialize_params(Revision::NEWEST_LEGACY.as_str())),
    };
    let nothing = json!({"name": "trunkline-lint-no-such-tool", "arguments": {}});
    let lists = List::ALL.map(|list| (list.method(), json!({})));
    for (method, params) in [first, ("tools/call", nothing)].into_iter().chain(lists) {
        let id = speaker.fresh_id();
        let ask = HttpAsk::post(bytes(&request(era, &id, method, params)));
        speaker.http((AUTH_EACH_STEP, method), ask, Expect::Any).await;
    }
}

fn issuers(document: &Value) -> Vec<Url> {
    let listed = document["authorization_servers"].as_array().into_iter().flatten();
    listed.filter_map(|issuer| Url::parse(issuer.as_str()?).ok()).take(ISSUERS).collect()
}
