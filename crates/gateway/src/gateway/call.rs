//! `tools/call` and `prompts/get`: a name becomes a route, a permit, and the server's own name.
//!
//! On this path one snapshot is read, one table asked by the text of the name as it stands in the frame, and one text written:
//! the parameters with the other name. Arguments are stepped over, not read, unless the rules want them checked.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Checker, Refusal, Route, Server},
    policy,
    rewrite::{About, Publisher},
    view::{NameTable, Naming, View},
};
use futures_util::StreamExt;
use std::sync::Arc;
use trunkline_protocol::{
    Call, Fault, Found, Part, Raw, Reply,
    message::{CallToolResult, ContentBlock},
    method,
};
use trunkline_schema::Budget;

impl Inner {
    pub(super) fn call_tool(self: &Arc<Self>, catalog: &Catalog, view: &View, call: Call) -> Reply {
        self.call_checked(catalog, view, call, None)
    }

    /// Calls a tool whose arguments need no check by `passed`, because they passed it.
    pub(super) fn call_checked(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &View,
        mut call: Call,
        passed: Option<&Arc<Checker>>,
    ) -> Reply {
        let found = name_of(&call);
        let route = match named(catalog, (view, &view.tools), (&call, found.as_ref()), "tool") {
            Ok(route) => route,
            Err(missing) => return self.missing(catalog, view, call, missing),
        };
        let Some(permit) = catalog.policy.permit(&call.caller, route) else {
            let refused = refused(&call, "tool");
            return self.missing(catalog, view, call, Missing::Unknown(refused));
        };
        let checker = route.checker().filter(|checker| !passed.is_some_and(|it| Arc::ptr_eq(it, checker)));
        if let Some(checker) = checker {
            let arguments = call.params.as_ref().and_then(|params| params.member("arguments"));
            match checker.check(arguments.as_ref(), Budget::QUICK) {
                Ok(()) => {}
                Err(Refusal::Unfit(complaint)) => return Reply::ready(Ok(bad_arguments(&complaint))),
                Err(Refusal::TooExpensive) => {
                    return self.check_on_blocking_thread(Arc::clone(checker), arguments, call);
                }
            }
        }
        if let Some(params) = renamed(found.as_ref(), route) {
            call.params = Some(params);
        }
        let publisher = Publisher::new(route.server(), &call.caller, route.subject(), &self.ids);
        self.follow(permit.call(call), publisher)
    }

    pub(super) fn get_prompt(self: &Arc<Self>, catalog: &Catalog, view: &View, mut call: Call) -> Reply {
        let found = name_of(&call);
        let route = match named(catalog, (view, &view.prompts), (&call, found.as_ref()), "prompt") {
            Ok(route) => route,
            Err(missing) => return self.missing(catalog, view, call, missing),
        };
        let Some(permit) = catalog.policy.permit(&call.caller, route) else {
            let refused = refused(&call, "prompt");
            return self.missing(catalog, view, call, Missing::Unknown(refused));
        };
        if let Some(params) = renamed(found.as_ref(), route) {
            call.params = Some(params);
        }
        let publisher = Publisher::new(route.server(), &call.caller, route.subject(), &self.ids);
        publish(permit.call(call), publisher, About::Prompt)
    }

    fn missing(self: &Arc<Self>, catalog: &Catalog, view: &View, call: Call, missing: Missing<'_>) -> Reply {
        match missing {
            Missing::Unheard(server) => self.once_heard(server, call),
            // Names without a prefix do not tell whose they are: they may be those of a server that was not heard yet.
            Missing::Unknown(fault) if view.naming == Naming::Bare && view.awaits_servers() => {
                self.once_settled(call, fault, is_usable)
            }
            Missing::Unknown(fault) => {
                self.unlisted(catalog, view, call).unwrap_or_else(|| Reply::ready(Err(fault)))
            }
        }
    }

    /// Where one server is shown as it is and nobody is forbidden anything, the server judges names that it does not list: its
    /// answer passes like any other. With a single rule in force an unknown name stays here, because a server may be less exact
    /// about names than the rules are.
    fn unlisted(&self, catalog: &Catalog, view: &View, call: Call) -> Option<Reply> {
        if !view.unruled || !catalog.policy.is_open() {
            return None;
        }
        let server = view.servers.first()?;
        let name = call.params.as_ref()?.text_of("name")?.into_owned();
        let permit = catalog.policy.permit_to(&call.caller, server, &name)?;
        let subject = policy::subject(server.name().as_ref(), &name);
        let publisher = Publisher::new(server, &call.caller, &subject, &self.ids);
        Some(self.follow(permit.call(call), publisher))
    }

    /// Translates what a tool answers, and remembers the task that it may start.
    fn follow(&self, reply: Reply, publisher: Option<Publisher>) -> Reply {
        let Some(publisher) = publisher else { return reply };
        let started = self.started.clone();
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

/// Translates what comes back, where there is anything to translate.
pub(super) fn publish(reply: Reply, publisher: Option<Publisher>, about: About) -> Reply {
    let Some(publisher) = publisher else { return reply };
    let publisher = publisher.about(about);
    Reply::new(reply.map(move |part| publisher.part(part)))
}

/// Why a name leads nowhere now.
enum Missing<'a> {
    /// It may be that of a server which was not heard yet.
    Unheard(&'a Arc<Server>),
    Unknown(Fault),
}

/// The name that a call gives, where it stands in the parameters.
fn name_of(call: &Call) -> Option<Found<'_>> {
    call.params.as_ref()?.find("name")
}

/// The parameters with the server's own name, where that is another one.
fn renamed(found: Option<&Found<'_>>, route: &Route) -> Option<Raw> {
    Some(found?.replaced(route.inner_raw()?))
}

fn named<'a>(
    catalog: &Catalog,
    (view, table): (&'a View, &'a NameTable),
    (call, found): (&Call, Option<&Found<'_>>),
    what: &str,
) -> Result<&'a Route, Missing<'a>> {
    let name = found.and_then(Found::text);
    let name = name.ok_or_else(|| Missing::Unknown(faults::missing("name")))?;
    if let Some(route) = table.get(&name) {
        return Ok(route);
    }
    let server = name.split_once('_').and_then(|(server, _)| view.server(server));
    let unheard = server.filter(|server| server.offer().is_none());
    let wanted = unheard.filter(|_| catalog.policy.admits_subject(&call.caller, &name, None));
    Err(wanted.map_or_else(|| Missing::Unknown(faults::unknown(what, &name)), Missing::Unheard))
}

/// Whether a call for something by its name finds it now, and may use it.
fn is_usable(catalog: &Catalog, view: &View, call: &Call) -> bool {
    let table = if call.method == method::PROMPTS_GET { &view.prompts } else { &view.tools };
    let found = name_of(call);
    let route = named(catalog, (view, table), (call, found.as_ref()), "").ok();
    route.is_some_and(|route| catalog.policy.admits(&call.caller, route))
}

fn refused(call: &Call, what: &str) -> Fault {
    let name = call.params.as_ref().and_then(|params| params.text_of("name"));
    faults::unknown(what, &name.unwrap_or_default())
}

pub(super) fn bad_arguments(complaint: &str) -> Raw {
    let text = format!("The arguments do not fit the tool's schema:\n{complaint}");
    let result = CallToolResult {
        content: Some(vec![ContentBlock::text(text)]),
        is_error: Some(true),
        ..CallToolResult::default()
    };
    result.to_raw()
}
