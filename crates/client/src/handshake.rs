//! The handshake: `server/discover` in the modern era, `initialize` in the legacy one.

use crate::{
    era::{Ask, Speech, capabilities},
    ids::IdSource,
    inbox::{Arrival, Loss, LossKind},
    link::{Exchange, Link, OnDrop},
    options::{ConnectOptions, RevisionChoice, TimeoutOwner},
};
use serde::Deserialize;
use trunkline_protocol::{
    Era, ErrorObject, Fault, FaultKind, Notification, Object, Part, Raw, Revision, method,
};

/// The server's answer to `server/discover`.
#[derive(Debug)]
pub(crate) enum Probe {
    /// A modern server, with its discovery result.
    Modern(Raw),
    /// A modern server that refused our revision and supports these.
    OtherRevisions(Vec<String>),
    /// A modern server that does not implement `server/discover`.
    Unintroduced,
    /// Not a modern server.
    Legacy,
}

/// The server's answer to `initialize`.
#[derive(Debug)]
pub(crate) struct Initialized {
    pub(crate) revision: Revision,
    pub(crate) result: Raw,
}

/// Prepares a probe. Dropping it sends no cancellation, because a legacy server would not know the
/// request.
pub(crate) fn probe(link: &Link, speech: &Speech, ids: &IdSource) -> Exchange {
    let mut outbound = speech.write(&Ask::new(method::DISCOVER, Object::new()), ids.next(), None);
    outbound.on_drop = OnDrop::Leave;
    link.exchange(outbound)
}

/// Waits for the response to a request and ignores notifications and questions before it.
pub(crate) async fn answer(exchange: &mut Exchange) -> Result<Result<Raw, ErrorObject>, Loss> {
    loop {
        match exchange.next().await {
            Arrival::Response(response) => return Ok(response),
            Arrival::Lost(loss) => return Err(loss),
            Arrival::Notification(_) | Arrival::Question(_) | Arrival::Unanswerable(_) => {}
        }
    }
}

/// Reads a probe's answer. Everything that is not clearly modern counts as legacy, because legacy
/// servers answer unknown methods with many different codes.
pub(crate) fn read_probe(answer: Result<Raw, ErrorObject>, status: Option<u16>) -> Probe {
    match answer {
        Ok(result) if result.member("supportedVersions").is_some() => Probe::Modern(result),
        Ok(_) => Probe::Legacy,
        Err(error) => match error.code {
            -32022 => Probe::OtherRevisions(supported(&error)),
            -32020 | -32021 => Probe::Unintroduced,
            // Only modern servers answer an unknown method with 404.
            -32601 if status == Some(404) => Probe::Unintroduced,
            _ => Probe::Legacy,
        },
    }
}

/// The revisions that an error lists as supported.
pub(crate) fn supported(error: &ErrorObject) -> Vec<String> {
    error.data.as_ref().and_then(|data| data.member_as("supported")).unwrap_or_default()
}

/// Sends `initialize`, checks the answer and confirms it. No other request may be sent before.
pub(crate) async fn initialize(
    link: &Link,
    speech: &Speech,
    ids: &IdSource,
    options: &ConnectOptions,
) -> Result<Initialized, Loss> {
    let mut exchange = begin_initialize(link, speech, ids, options);
    let answer = answer(&mut exchange).await?;
    let refused_by_status =
        answer.is_err().then(|| exchange.http_status()).flatten().filter(|status| *status >= 400);
    confirm(link, answer, options).await.map_err(|loss| match refused_by_status {
        // An HTTP error may mean that this address wants another transport, whatever its body
        // says.
        Some(status) => Loss { how: LossKind::Status(status), ..loss },
        None => loss,
    })
}

pub(crate) fn begin_initialize(
    link: &Link,
    speech: &Speech,
    ids: &IdSource,
    options: &ConnectOptions,
) -> Exchange {
    let mut params = Object::new();
    params.set("protocolVersion", Raw::string(speech.revision.as_str()));
    params.set("capabilities", capabilities(speech.revision, options));
    let client = options.behalf.as_ref().and_then(|behalf| behalf.client.clone());
    params.set("clientInfo", client.unwrap_or_else(|| options.client.to_json().into()));
    link.exchange(speech.write(&Ask::new(method::INITIALIZE, params), ids.next(), None))
}

/// Checks the answer to `initialize` and sends `notifications/initialized`.
pub(crate) async fn confirm(
    link: &Link,
    answer: Result<Raw, ErrorObject>,
    options: &ConnectOptions,
) -> Result<Initialized, Loss> {
    let result = answer.map_err(|error| {
        let told = format!("the server refused the handshake (`initialize`): {}", error.message);
        line(Fault::from_peer(error, Era::Legacy, method::INITIALIZE).with_message(told))
    })?;
    let revision = agreed(&result, options).map_err(line)?;
    link.settle(revision);
    link.notify(Notification::new(method::INITIALIZED, None)).await.map_err(line)?;
    if let Link::Http(http) = link {
        http.listen().await;
    }
    Ok(Initialized { revision, result })
}

/// The revision of the server's answer, if we support it.
fn agreed(result: &Raw, options: &ConnectOptions) -> Result<Revision, Fault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Agreed {
        protocol_version: String,
    }
    let Agreed { protocol_version } = result.decode().map_err(|error| {
        let fault = Fault::new(FaultKind::BadAnswer, "the answer to `initialize` has no `protocolVersion`");
        fault.with_detail(error.to_string())
    })?;
    let refused = |why: String| Fault::new(FaultKind::UnsupportedRevision, why);
    let revision: Revision = protocol_version
        .parse()
        .map_err(|e| refused(format!("the server answered with an unknown revision: {e}")))?;
    if revision.era() == Era::Modern {
        return Err(refused(format!(
            "the server answered `initialize` with {revision}, a revision without it"
        )));
    }
    // A gateway opens many connections to one server and warns itself, once.
    if let RevisionChoice::Exactly(wanted) = options.speak
        && wanted != revision
        && options.timekeeper == TimeoutOwner::Connection
    {
        tracing::warn!(%wanted, %revision, "the server answered with another protocol revision");
    }
    Ok(revision)
}

fn line(fault: Fault) -> Loss {
    Loss { fault, how: LossKind::Line }
}

impl From<Loss> for Part {
    fn from(loss: Loss) -> Self {
        Self::Final(Err(loss.fault))
    }
}
