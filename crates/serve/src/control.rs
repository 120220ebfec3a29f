//! Legacy requests about the session itself, which never reach the handler.

use crate::{
    era::{initialize_result, lifted_meta, without_task_list},
    options::{Eras, Handshake},
    service::Service,
    session::{Introduction, Outlet, Session, listen},
};
use std::sync::Arc;
use trunkline_protocol::{
    Caller, Era, ErrorObject, Notification, Notify, Object, Origin, Raw, Request, RequestId, Revision,
    message::{CancelledParams, SetLevelParams},
    method,
};

/// Handles `initialize`: negotiates the revision and creates the session.
pub(crate) async fn initialize(
    service: &Arc<Service>,
    caller: Arc<Caller>,
    request: &Request,
    outlet: Outlet,
) -> Result<(Arc<Session>, Raw), ErrorObject> {
    let params = request.params.as_ref().and_then(Raw::object).unwrap_or_default();
    let requested: String =
        params.get("protocolVersion").and_then(|raw| raw.decode().ok()).ok_or_else(|| {
            ErrorObject::new(
                -32602,
                "`initialize` needs `protocolVersion`, the newest revision that you speak",
            )
        })?;
    if service.options.eras == Eras::Only(Era::Modern) {
        return Err(crate::era::unsupported(&requested).error);
    }
    let revision = agree(&requested);
    let session = Session::new(caller.clone(), revision, Introduction::read(&params), outlet);
    let meta = lifted_meta(&session, None).to_raw();
    let introduction = service.introduction(&caller, Some(meta), Origin::Client).await;
    let introduction = introduction.map_err(|fault| fault.to_error(Era::Legacy))?;
    let mut result = initialize_result(&introduction, revision);
    if !session.is_identified() {
        result = without_task_list(result);
    }
    Ok((session, result))
}

/// The session of a client that sends no `initialize`, if that is accepted. It declares nothing.
pub(crate) fn without_handshake(
    service: &Service,
    caller: Arc<Caller>,
    revision: Revision,
    outlet: Outlet,
) -> Option<Arc<Session>> {
    let accepted = service.options.handshake == Handshake::Optional
        && service.options.eras.allows(Era::Legacy)
        && revision.era() == Era::Legacy;
    let begin = match &outlet {
        Outlet::Streams(_) => Session::of_one_request,
        Outlet::Duplex(_) => Session::new,
    };
    accepted.then(|| begin(caller, revision, Introduction::read(&Object::new()), outlet))
}

/// The requested revision if it is a legacy one that we know, else the newest legacy one.
fn agree(requested: &str) -> Revision {
    let known = requested.parse::<Revision>().ok().filter(|revision| revision.era() == Era::Legacy);
    known.unwrap_or(Revision::NEWEST_LEGACY)
}

/// Answers a request about the session; `None` if the handler must answer it.
pub(crate) fn answer(
    service: &Arc<Service>,
    session: &Arc<Session>,
    request: &Request,
) -> Option<Result<Raw, ErrorObject>> {
    if request.params.as_ref().is_some_and(|params| !params.is_object()) {
        return Some(Err(ErrorObject::new(-32600, "`params` must be an object")));
    }
    let outcome = match request.method.as_ref() {
        method::PING => Ok(()),
        method::SET_LEVEL => set_level(session, request.params.as_ref()),
        method::RESOURCES_UNSUBSCRIBE => uri_of(request.params.as_ref()).map(|uri| {
            session.listening.remove(&uri);
            drop(listen(service, session));
        }),
        method::INITIALIZE => Err(ErrorObject::new(-32600, "the session is initialised already")),
        method::DISCOVER | method::LISTEN => {
            Err(ErrorObject::new(-32601, format!("`{}` does not exist in this revision", request.method)))
        }
        _ => return None,
    };
    Some(outcome.map(|()| Raw::empty_object()))
}

/// Handles a notification from a legacy client.
pub(crate) fn notify(service: &Arc<Service>, session: &Arc<Session>, notification: Notification) {
    match notification.method.as_ref() {
        method::INITIALIZED => drop(listen(service, session)),
        method::CANCELLED => {
            if let Some(id) = cancelled_id(&notification) {
                session.cancel(&id);
            }
        }
        _ => service.handler.notify(Notify { notification, caller: session.caller.clone() }),
    }
}

/// The id of the request that a notification cancels.
pub(crate) fn cancelled_id(notification: &Notification) -> Option<RequestId> {
    notification.params.as_ref()?.decode::<CancelledParams>().ok().map(|params| params.request_id)
}

fn set_level(session: &Session, params: Option<&Raw>) -> Result<(), ErrorObject> {
    let level = params.and_then(|raw| raw.decode::<SetLevelParams>().ok()).map(|params| params.severity());
    match level {
        Some(Ok(level)) => {
            session.set_level(level);
            Ok(())
        }
        Some(Err(unknown)) => Err(ErrorObject::new(-32602, unknown.to_string())),
        None => Err(ErrorObject::new(-32602, "`logging/setLevel` needs `level`")),
    }
}

fn uri_of(params: Option<&Raw>) -> Result<String, ErrorObject> {
    let uri = params.and_then(|params| params.member_as("uri"));
    uri.ok_or_else(|| ErrorObject::new(-32602, "`uri` is missing"))
}
