//! `tools/call` and `prompts/get`: finds the route by name, gets a permit, and sends the call with
//! the server's own name.
//!
//! This is the hot path: it loads one snapshot, looks up the name as it is in the frame, and makes
//! one copy, of the parameters with the new name. Arguments are skipped and not parsed, unless the
//! rules want them checked.

use super::{Inner, Passed, Question, blocking_check, faults};
use crate::{
    catalog::{Catalog, Checker, Refusal, Route, Server},
    disclosure::{Disclosure, OwnTool},
    policy::{self, Denial, Permit, Verdict},
    rewrite::{About, Publisher},
    view::{NameTable, Naming, View},
};
use futures_util::StreamExt;
use std::sync::Arc;
use trunkline_protocol::{Call, Fault, Found, Part, Raw, Reply, method};
use trunkline_schema::Budget;

impl Inner {
    /// Calls a tool or gets a prompt. Checks that the call has passed are not made again.
    pub(super) fn use_named(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &View,
        mut call: Call,
        passed: Passed,
    ) -> Reply {
        let found = name_of(&call);
        let route = match find_named(catalog, view, &call, found.as_ref()) {
            Ok(NameFound::Own(tool)) => return self.call_own(catalog, view, call, tool),
            Ok(NameFound::Route(route)) => route,
            Err(missing) => return self.missing(catalog, view, call, missing),
        };
        let permit = match catalog.policy.judge(&call, route) {
            Verdict::Allowed(permit) => Ok(permit),
            Verdict::Ask(asked) => {
                let sent = renamed(found.as_ref(), route);
                let question = Question { asked: &asked, call: &call, sent };
                self.agreed(question, &passed, route.server()).ok_or(asked)
            }
            Verdict::Denied(Denial::Hidden) => {
                let refused = refused(&call);
                return self.missing(catalog, view, call, Missing::Unknown(refused));
            }
            Verdict::Denied(denial) => return faults::denied(denial),
        };
        if !route.server().is_verified() {
            return self.once_verified(route.server(), call);
        }
        let is_new = |checker: &&Arc<Checker>| {
            !passed.checker.as_ref().is_some_and(|passed| Arc::ptr_eq(passed, checker))
        };
        let checker = route.checker().filter(is_new);
        if let Some(checker) = checker {
            let arguments = call.params.as_ref().and_then(|params| params.member("arguments"));
            match checker.check(arguments.as_ref(), Budget::QUICK) {
                Ok(()) => {}
                Err(Refusal::TooExpensive) => {
                    let passed = Passed { checker: Some(Arc::clone(checker)), ..passed };
                    return self.check_on_blocking_thread(Arc::clone(checker), arguments, call, passed);
                }
                Err(refusal) => return blocking_check::refused(&refusal),
            }
        }
        // A person is asked last, about a call that nothing else stands against.
        let permit = match permit {
            Ok(permit) => permit,
            Err(asked) => return self.once_agreed(call, asked, passed),
        };
        if let Some(params) = renamed(found.as_ref(), route) {
            call.params = Some(params);
        }
        let publisher = Publisher::new(route.server(), &call.caller, route.subject(), &self.shared.ids);
        if is_prompt(&call) {
            return publish(self.send(permit, call), publisher, About::Prompt);
        }
        self.follow(self.send(permit, call), publisher)
    }

    fn missing(self: &Arc<Self>, catalog: &Catalog, view: &View, call: Call, missing: Missing<'_>) -> Reply {
        match missing {
            Missing::NotConnected(server) => self.once_connected(server, call),
            // A name without prefix does not tell its server: it may be one that has not connected
            // yet.
            Missing::Unknown(fault)
                if view.naming == Naming::Bare && view.awaits_servers(&catalog.policy, &call.caller) =>
            {
                self.once_usable(call, fault, is_usable)
            }
            Missing::Unknown(fault) => match Self::unlisted(catalog, view, &call) {
                Some((permit, Unlisted { server, subject })) => {
                    let publisher = Publisher::new(server, &call.caller, &subject, &self.shared.ids);
                    self.follow(self.send(permit, call), publisher)
                }
                None => match self.once_signed_in(catalog, view, &call, &fault) {
                    Some(reply) => reply,
                    None => self.once_offered(catalog, view, call, fault),
                },
            },
        }
    }

    /// The server that gets an unlisted name: that of a view that shows one server unchanged, if no
    /// rule or policy is set. Otherwise an unknown name is refused here: a server may match names
    /// less strictly than the rules (case, for example), which would bypass them.
    pub(super) fn unlisted<'a>(
        catalog: &Catalog,
        view: &'a View,
        call: &Call,
    ) -> Option<(Permit<'a>, Unlisted<'a>)> {
        if !view.unruled || !catalog.policy.is_open() {
            return None;
        }
        let server = view.servers.first()?;
        let name = call.params.as_ref()?.text_of("name")?;
        let permit = catalog.policy.permit_to(&call.caller, server, &name)?;
        Some((permit, Unlisted { server, subject: policy::subject(server.name().as_ref(), &name) }))
    }

    /// Translates the reply of a tool, and remembers the task if it starts one.
    fn follow(&self, reply: Reply, publisher: Option<Publisher>) -> Reply {
        let Some(publisher) = publisher else { return reply };
        let started = self.shared.started.clone();
        Reply::new(reply.map(move |part| {
            if let Part::Final(Ok(result)) = &part
                && let Some(task) = Publisher::started(result)
            {
                started.add(&publisher, task);
            }
            publisher.part(part)
        }))
    }
}

/// Translates the reply, if there is a publisher.
pub(super) fn publish(reply: Reply, publisher: Option<Publisher>, about: About) -> Reply {
    let Some(publisher) = publisher else { return reply };
    let publisher = publisher.about(about);
    Reply::new(reply.map(move |part| publisher.part(part)))
}

/// A name that is not listed, and the server it is passed to.
pub(super) struct Unlisted<'a> {
    pub(super) server: &'a Arc<Server>,
    subject: String,
}

/// The tool or prompt that a call names.
pub(super) enum NameFound<'a> {
    /// A tool of the view itself.
    Own(OwnTool),
    Route(&'a Route),
}

/// The reason why a name has no route.
pub(super) enum Missing<'a> {
    /// Its prefix is that of a server that has not connected yet.
    NotConnected(&'a Arc<Server>),
    Unknown(Fault),
}

/// Finds the tool or prompt of a call by its name in the view.
pub(super) fn find_named<'a>(
    catalog: &Catalog,
    view: &'a View,
    call: &Call,
    found: Option<&Found<'_>>,
) -> Result<NameFound<'a>, Missing<'a>> {
    if let Some(tool) = own_tool(view, call, found) {
        return Ok(NameFound::Own(tool));
    }
    named(catalog, view, call, found).map(NameFound::Route)
}

/// The name in the call's parameters, with its position.
pub(super) fn name_of(call: &Call) -> Option<Found<'_>> {
    call.params.as_ref()?.find("name")
}

/// The tool of the view itself that the call names.
fn own_tool(view: &View, call: &Call, found: Option<&Found<'_>>) -> Option<OwnTool> {
    if view.disclosure == Disclosure::All || is_prompt(call) {
        return None;
    }
    OwnTool::named(view.disclosure, &found?.text()?)
}

/// The parameters with the server's own name, if that differs.
fn renamed(found: Option<&Found<'_>>, route: &Route) -> Option<Raw> {
    Some(found?.replaced(route.inner_raw()?))
}

fn named<'a>(
    catalog: &Catalog,
    view: &'a View,
    call: &Call,
    found: Option<&Found<'_>>,
) -> Result<&'a Route, Missing<'a>> {
    let name = found.and_then(Found::text);
    let name = name.ok_or_else(|| Missing::Unknown(faults::missing("name")))?;
    if let Some(route) = table(view, call).get(&name) {
        return Ok(route);
    }
    let parts = name.split_once('_').and_then(|(server, own)| Some((view.server(server)?, own)));
    let unconnected = parts.filter(|(server, _)| server.offer().is_none());
    let wanted = unconnected
        .filter(|(server, own)| catalog.policy.admits_name(&call.caller, server.name(), &name, own));
    let wanted = wanted.map(|(server, _)| server);
    Err(wanted.map_or_else(|| Missing::Unknown(faults::unknown(kind(call), &name)), Missing::NotConnected))
}

/// True if the name of the call has a route now and the caller may use it.
pub(super) fn is_usable(catalog: &Catalog, view: &View, call: &Call) -> bool {
    let route = named(catalog, view, call, name_of(call).as_ref()).ok();
    route.is_some_and(|route| catalog.policy.admits(&call.caller, route))
}

fn refused(call: &Call) -> Fault {
    let name = call.params.as_ref().and_then(|params| params.text_of("name"));
    faults::unknown(kind(call), &name.unwrap_or_default())
}

fn table<'a>(view: &'a View, call: &Call) -> &'a NameTable {
    if is_prompt(call) { &view.prompts } else { &view.tools }
}

fn kind(call: &Call) -> &'static str {
    if is_prompt(call) { "prompt" } else { "tool" }
}

fn is_prompt(call: &Call) -> bool {
    call.method == method::PROMPTS_GET
}
