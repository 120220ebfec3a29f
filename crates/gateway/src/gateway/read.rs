//! `resources/read` and `completion/complete`.

use super::{Inner, Passed, Question, call::publish, faults};
use crate::{
    catalog::Catalog,
    policy::{Denial, Permit, Verdict},
    rewrite::{About, Publisher},
    view::{LocatedResource, View},
};
use std::{borrow::Cow, sync::Arc};
use trunkline_protocol::{Call, Caller, Fault, Raw, Reply};

impl Inner {
    pub(super) fn read_resource(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &View,
        mut call: Call,
        passed: Passed,
    ) -> Reply {
        let uri = call.params.as_ref().and_then(|params| params.member("uri"));
        let Some(uri) = uri.as_ref().and_then(Raw::text).map(Cow::into_owned) else {
            return Reply::ready(Err(faults::missing("uri")));
        };
        let Some(found) = located(catalog, view, &call.caller, &uri) else {
            let fault = faults::no_resource(&uri);
            if view.awaits_servers(&catalog.policy, &call.caller) {
                return self.once_usable(call, fault, is_usable);
            }
            return Reply::ready(Err(fault));
        };
        let permit = match catalog.policy.judge_resource(&call, found.server, &found.inner) {
            Verdict::Allowed(permit) => permit,
            Verdict::Ask(asked) => {
                let inner = Raw::string(&found.inner);
                let sent = call.params.as_ref().and_then(|params| params.with("uri", &inner));
                let question = Question { asked: &asked, call: &call, sent };
                match self.agreed(question, &passed, found.server) {
                    Some(permit) => permit,
                    None => return self.once_agreed(call, asked, passed),
                }
            }
            Verdict::Denied(Denial::Hidden) => return Reply::ready(Err(faults::no_resource(&uri))),
            Verdict::Denied(denial) => return faults::denied(denial),
        };
        let subject = found.server.name().as_ref();
        let publisher = if found.inner == uri {
            Publisher::new(found.server, &call.caller, subject, &self.shared.ids)
        } else {
            call.params = call.params.and_then(|params| params.with("uri", &Raw::string(&found.inner)));
            Some(Publisher::always(found.server, &call.caller, subject, &self.shared.ids))
        };
        let about = About::Read { public: uri, inner: found.inner.clone() };
        publish(self.send(permit, call), publisher, about)
    }

    pub(super) fn complete(catalog: &Catalog, view: &View, mut call: Call) -> Reply {
        let Some(params) = call.params.take() else { return Reply::ready(Err(faults::missing("ref.type"))) };
        match inner_reference(catalog, view, &call.caller, &params) {
            Ok((permit, reference)) => {
                call.params = match reference {
                    Some(reference) => params.with("ref", &reference),
                    None => Some(params),
                };
                permit.call(call)
            }
            Err(fault) => Reply::ready(Err(fault)),
        }
    }
}

/// True if the call's resource can be read now.
fn is_usable(catalog: &Catalog, view: &View, call: &Call) -> bool {
    let uri = call.params.as_ref().and_then(|params| params.member("uri"));
    let uri = uri.as_ref().and_then(Raw::text);
    uri.is_some_and(|uri| located(catalog, view, &call.caller, &uri).is_some())
}

/// The server of a URI, and permission to complete it or subscribe to it.
pub(super) fn permitted<'a>(
    catalog: &Catalog,
    view: &'a View,
    caller: &Caller,
    uri: &str,
) -> Option<(LocatedResource<'a>, Permit<'a>)> {
    let found = located(catalog, view, caller, uri)?;
    let permit = catalog.policy.permit_to(caller, found.server, &found.inner)?;
    Some((found, permit))
}

/// The server of a URI, if the caller could be allowed to read it.
fn located<'a>(catalog: &Catalog, view: &'a View, caller: &Caller, uri: &str) -> Option<LocatedResource<'a>> {
    let found = view.locate(uri)?;
    if found.route.is_some_and(|route| !catalog.policy.admits(caller, route)) {
        return None;
    }
    // A resource hidden by name must not be reachable by template, by origin, or because only one
    // server has resources.
    if !found.server.offers_uri(&found.inner) {
        return None;
    }
    catalog.policy.admits_resource(caller, found.server.name(), &found.inner).then_some(found)
}

/// The permit for the prompt or resource of a completion, and its reference with the server's name
/// if that differs.
fn inner_reference<'a>(
    catalog: &Catalog,
    view: &'a View,
    caller: &Caller,
    params: &Raw,
) -> Result<(Permit<'a>, Option<Raw>), Fault> {
    let reference = params.member("ref").ok_or_else(|| faults::missing("ref.type"))?;
    let text = |member: &str| reference.member(member).and_then(|raw| raw.text().map(Cow::into_owned));
    match text("type").as_deref() {
        Some("ref/prompt") => {
            let name = text("name").ok_or_else(|| faults::missing("ref.name"))?;
            let route = view.prompts.get(&name);
            let permit = route.and_then(|route| Some((route, catalog.policy.permit(caller, route)?)));
            let (route, permit) = permit.ok_or_else(|| faults::unknown("prompt", &name))?;
            Ok((permit, route.inner_raw().and_then(|inner| reference.with("name", inner))))
        }
        Some("ref/resource") => {
            let uri = text("uri").ok_or_else(|| faults::missing("ref.uri"))?;
            if let Some(route) = view.templates.get(&uri) {
                let permit = catalog.policy.permit(caller, route).ok_or_else(|| faults::no_resource(&uri))?;
                return Ok((permit, route.inner_raw().and_then(|inner| reference.with("uri", inner))));
            }
            let place = permitted(catalog, view, caller, &uri);
            let (found, permit) = place.ok_or_else(|| faults::no_resource(&uri))?;
            let changed = (found.inner != uri).then(|| reference.with("uri", &Raw::string(&found.inner)));
            Ok((permit, changed.flatten()))
        }
        _ => Err(faults::missing("ref.type")),
    }
}
