//! Explains a call: runs its checks in their order, without counting, asking or sending anything.

use super::{
    Gateway, Inner, blocking_check,
    call::{Missing, NameFound, find_named, name_of},
    consent, faults,
    located::Located,
    sign_in,
};
use crate::{
    approval::Approvals,
    catalog::{Catalog, Route, Server},
    explain::{Decision, Link, Stage},
    policy::{Access, Asked, Denial, Explained, RecordedCall, RoleVerdict},
    view::{Naming, View},
};
use std::{borrow::Cow, time::SystemTime};
use trunkline_protocol::{Call, Fault};

/// The stages that the gateway decides, in their order.
const STAGES: [Stage; 9] = [
    Stage::View,
    Stage::Filter,
    Stage::Roles,
    Stage::Policy,
    Stage::Lock,
    Stage::Arguments,
    Stage::Consent,
    Stage::Breaker,
    Stage::Upstream,
];

const NO_RULES: &str = "no rules are configured";
const NOT_CHECKED: &str = "not checked here";

/// A decision that a changed policy could make about a recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleAccess {
    pub access: Access,
    /// The rule, for people.
    pub rule: String,
    /// False if the server's list is not known, so that the tool may not exist.
    pub is_listed: bool,
}

/// A call that is explained, and the snapshot that it would find.
#[derive(Clone, Copy)]
struct ExplainedCall<'a> {
    catalog: &'a Catalog,
    view: &'a View,
    call: &'a Call,
    /// The time of rules; `None`: now.
    at: Option<SystemTime>,
}

impl Gateway {
    /// The chain of decisions about a `tools/call`, as if it were made now, or at another time as
    /// far as rules depend on it.
    pub async fn explain(&self, call: &Call, at: Option<SystemTime>) -> Vec<Link> {
        let inner = self.catalog_of(&call.caller);
        let (mut links, asked) = inner.explain_access(call, at);
        let consent = match asked {
            Some(asked) => Some(consent_link(inner.shared.options.approvals.as_ref(), call, &asked).await),
            None => needs_no_consent(&links).then(|| Link::passes(Stage::Consent, "not needed")),
        };
        if let Some(consent) = consent {
            insert(&mut links, consent);
        }
        for stage in STAGES {
            if !links.iter().any(|link| link.stage == stage) {
                insert(&mut links, Link::unreached(stage));
            }
        }
        links
    }

    /// The access that the policy and the filters give to a `tools/call`; `None` if the view has
    /// no such tool. The rule is for people.
    pub fn access(&self, call: &Call, at: Option<SystemTime>) -> Option<PossibleAccess> {
        let catalog = self.inner.now.load();
        let view = catalog.view(call.view.as_deref())?;
        let located = Located::of_call(&catalog, view, call)?;
        let is_listed = matches!(located, Located::Route(_));
        let explained = match located {
            Located::Route(route) => catalog.policy.explain(call, at, (&route.target(), Some(route))),
            Located::Unlisted(server, own) => {
                let access = server.access(&catalog.policy);
                let tells_all = server.offer().is_some() && !server.is_stale();
                if tells_all || !access.offers(&own) {
                    return None;
                }
                access.with_tool(&own, |target| catalog.policy.explain(call, at, (target, None)))
            }
        };
        let rule = explained.rule.unwrap_or_else(|| role_text(&explained.roles));
        Some(PossibleAccess { access: explained.access, rule, is_listed })
    }

    /// All accesses that are possible for a recorded call; empty if the view has no such tool.
    pub fn possible_accesses(&self, recorded: &RecordedCall) -> Vec<PossibleAccess> {
        let (catalog, call) = (self.inner.now.load(), &recorded.call);
        let Some(view) = catalog.view(call.view.as_deref()) else { return Vec::new() };
        let located = Located::of_call(&catalog, view, call);
        let is_listed = matches!(located, Some(Located::Route(_)));
        let possible = match located {
            None => Vec::new(),
            Some(Located::Route(route)) => catalog.policy.possible(recorded, &route.target()),
            Some(Located::Unlisted(server, own)) => {
                let access = server.access(&catalog.policy);
                if !access.offers(&own) {
                    return Vec::new();
                }
                access.with_tool(&own, |target| catalog.policy.possible(recorded, target))
            }
        };
        possible.into_iter().map(|(access, rule)| PossibleAccess { access, rule, is_listed }).collect()
    }

    /// Makes a new snapshot, if an offer changed.
    pub async fn refresh(&self) {
        super::keeper::rebuild(&self.inner).await;
    }
}

/// Adds a link in the order of the stages.
fn insert(links: &mut Vec<Link>, link: Link) {
    let place = links.iter().position(|later| later.stage as u8 > link.stage as u8);
    links.insert(place.unwrap_or(links.len()), link);
}

/// True if the policy allows the call as it is, and nothing before consent stops it.
fn needs_no_consent(links: &[Link]) -> bool {
    let mut before = links.iter().filter(|link| link.stage as u8 <= Stage::Consent as u8);
    let allows = |link: &Link| link.stage == Stage::Policy && link.decision == Decision::Passes;
    links.iter().any(allows)
        && before.all(|link| link.stage != Stage::Consent && link.decision != Decision::Stops)
}

impl Inner {
    /// The links up to the check of arguments, and those of the server, if the call comes so far;
    /// and what a person has to agree to.
    fn explain_access(&self, call: &Call, at: Option<SystemTime>) -> (Vec<Link>, Option<Asked>) {
        let catalog = self.now.load();
        let Some(view) = catalog.view(call.view.as_deref()) else {
            return (vec![Link::stops(Stage::View, &faults::no_view(call.view.as_deref()))], None);
        };
        if !view.name.is_empty() && !catalog.policy.may_enter(&call.caller, view) {
            let text = format!("the caller may use nothing of `/mcp/{}`", view.name);
            return (vec![Link::new(Stage::View, Decision::Stops, text).with_code("HTTP 404")], None);
        }
        let mut links = vec![view_link(view)];
        match find_named(&catalog, view, call, name_of(call).as_ref()) {
            Ok(NameFound::Own(tool)) => {
                let text = format!("`{}` is a tool of the view itself", tool.name());
                links.push(Link::passes(Stage::Filter, text));
                (links, None)
            }
            Ok(NameFound::Route(route)) => {
                links.push(Link::passes(Stage::Filter, offered(route)));
                let explained = catalog.policy.explain(call, at, (&route.target(), Some(route)));
                let asked = push_policy(&mut links, explained);
                if matches!(links.last(), Some(link) if link.decision == Decision::Stops) {
                    return (links, None);
                }
                links.push(lock_link(route.server()));
                links.push(self.arguments_link(route, call));
                links.extend(route.server().links(call));
                (links, asked)
            }
            Err(missing) => {
                let explained = ExplainedCall { catalog: &catalog, view, call, at };
                match missing {
                    Missing::NotConnected(server) => unconnected(explained, server, &mut links),
                    Missing::Unknown(fault) => unlisted(explained, &fault, &mut links),
                }
                (links, None)
            }
        }
    }

    fn arguments_link(&self, route: &Route, call: &Call) -> Link {
        let Some(checker) = route.checker() else {
            return Link::passes(Stage::Arguments, NOT_CHECKED);
        };
        let arguments = call.params.as_ref().and_then(|params| params.member("arguments"));
        match checker.check_fully(arguments.as_ref(), &self.shared.checkers) {
            Ok(()) => Link::passes(Stage::Arguments, "they fit the tool's schema"),
            Err(refusal) => Link::new(Stage::Arguments, Decision::Stops, blocking_check::text(&refusal))
                .with_code(trunkline_protocol::FaultKind::InvalidRequest.entry().code),
        }
    }
}

fn view_link(view: &View) -> Link {
    if view.name.is_empty() {
        return Link::passes(Stage::View, "`/mcp`, with all servers");
    }
    let link = Link::passes(Stage::View, format!("`/mcp/{}`", view.name));
    if view.name.starts_with("server/") { link } else { link.by_setting(format!("views.{}", view.name)) }
}

fn offered(route: &Route) -> String {
    let (server, own) = (route.server().name(), route.inner());
    if route.server().is_stale() {
        return format!("server `{server}` listed it as `{own}` in its last run");
    }
    format!("server `{server}` lists it as `{own}`")
}

/// Adds the links of roles and rules; returns what a person has to agree to.
fn push_policy(links: &mut Vec<Link>, explained: Explained) -> Option<Asked> {
    let Explained { access, roles, rule } = explained;
    let hidden = || faults::unknown("tool", "").entry().code;
    let setting = match &roles {
        RoleVerdict::Open => None,
        RoleVerdict::NoRole => Some("roles".to_owned()),
        RoleVerdict::Denied(name) | RoleVerdict::Allowed(name) => Some(role_setting(name)),
        RoleVerdict::NotAllowed(names) => names.first().map(|name| role_setting(name)),
    };
    let admits = matches!(roles, RoleVerdict::Open | RoleVerdict::Allowed(_));
    let link = Link { setting, ..Link::passes(Stage::Roles, role_text(&roles)) };
    if !admits {
        links.push(Link { decision: Decision::Stops, ..link }.with_code(hidden()));
        return None;
    }
    links.push(link);
    let Some(rule) = rule else {
        links.push(Link::passes(Stage::Policy, NO_RULES));
        return None;
    };
    let (decision, text, code) = match &access {
        Access::Allowed => (Decision::Passes, "allowed".to_owned(), None),
        Access::Ask(_) => (Decision::Passes, "a person must agree".to_owned(), None),
        Access::Denied(Denial::Hidden) => {
            (Decision::Stops, "denied for all arguments, so the tool is hidden".to_owned(), Some(hidden()))
        }
        Access::Denied(denial) => {
            let fault = denial.clone().fault(|| faults::unknown("tool", ""));
            (Decision::Stops, fault.message().to_owned(), Some(fault.entry().code))
        }
    };
    let link = Link::new(Stage::Policy, decision, text).by_rule(rule);
    links.push(Link { code: code.map(str::to_owned), ..link });
    match access {
        Access::Ask(asked) => Some(asked),
        Access::Allowed | Access::Denied(_) => None,
    }
}

fn role_setting(name: &str) -> String {
    if name == RoleVerdict::OTHERWISE { name.to_owned() } else { format!("roles.{name}") }
}

fn role_text(roles: &RoleVerdict) -> String {
    match roles {
        RoleVerdict::Open => "no roles are configured".to_owned(),
        RoleVerdict::NoRole => "the caller has no role".to_owned(),
        RoleVerdict::Denied(name) => format!("denied by role `{name}`"),
        RoleVerdict::Allowed(name) => format!("allowed by role `{name}`"),
        RoleVerdict::NotAllowed(names) => format!("not allowed by any of the roles {}", names.join(", ")),
    }
}

fn lock_link(server: &Server) -> Link {
    if server.is_verified() {
        return Link::passes(Stage::Lock, "the definition is accepted, or need not be");
    }
    let text = "the call waits until the server's definitions were compared with the lock file";
    Link::new(Stage::Lock, Decision::Unknown, text).by_setting("lock")
}

async fn consent_link(approvals: Option<&Approvals>, call: &Call, asked: &Asked) -> Link {
    let reason = asked.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let Some(approvals) = approvals else {
        return Link::stops(Stage::Consent, &faults::unasked(asked)).by_rule(asked.rule.clone());
    };
    if let Some(by) = approvals.granted_by(call, asked).await {
        return Link::passes(Stage::Consent, format!("agreed before by {by}")).by_rule(asked.rule.clone());
    }
    let link = if consent::asks_client(call, asked) {
        Link::new(Stage::Consent, Decision::Asks, format!("the person at the client is asked{reason}"))
    } else if approvals.is_reachable() {
        Link::new(Stage::Consent, Decision::Asks, format!("an operator is asked{reason}"))
    } else {
        Link::stops(Stage::Consent, &faults::unasked(asked))
    };
    link.by_rule(asked.rule.clone())
}

/// The links of a tool whose server never connected: the policy is decided without its list, the
/// rest when it has connected.
fn unconnected(explained: ExplainedCall<'_>, server: &Server, links: &mut Vec<Link>) {
    let ExplainedCall { catalog, view, call, at } = explained;
    let name = name_of(call).and_then(|found| found.text().map(Cow::into_owned)).unwrap_or_default();
    let access = server.access(&catalog.policy);
    let public = view.server_of(&name).map_or(name.as_str(), |(_, public)| public);
    let own = access.own_name(public);
    if !access.offers(&own) {
        let (text, setting) = not_offered(server, &own);
        let fault = faults::unknown("tool", &name);
        links.push(Link { text, setting, ..Link::stops(Stage::Filter, &fault) });
        return;
    }
    let text = if server.is_personal() {
        format!(
            "unknown: server `{}` shows each caller other tools, and none to this one so far",
            server.name()
        )
    } else {
        format!("unknown: server `{}` has not connected yet", server.name())
    };
    links.push(Link::new(Stage::Filter, Decision::Unknown, text));
    let explained = access.with_tool(&own, |target| catalog.policy.explain(call, at, (target, None)));
    let asks = push_policy(links, explained).is_some();
    if matches!(links.last(), Some(link) if link.decision == Decision::Stops) {
        return;
    }
    if asks {
        links.push(Link::new(Stage::Consent, Decision::Unknown, "a person is asked once it is known"));
    }
    links.extend(server.links(call));
}

/// The links of a name that no server lists, in the order in which a call looks for a way.
fn unlisted(explained: ExplainedCall<'_>, fault: &Fault, links: &mut Vec<Link>) {
    let ExplainedCall { catalog, view, call, .. } = explained;
    if let Some(Located::Unlisted(server, own)) = Located::of_call(catalog, view, call)
        && server.offer().is_none()
        && !own.is_empty()
    {
        return unconnected(explained, server, links);
    }
    let unknown = |text: String| Link::new(Stage::Filter, Decision::Unknown, text);
    if view.naming == Naming::Bare
        && let Some(server) = view.unconnected_for(&catalog.policy, &call.caller).next()
    {
        links.push(unknown(format!(
            "not listed; server `{}`, which may have it, has not connected yet",
            server.name()
        )));
    } else if let Some((_, passed_to)) = Inner::unlisted(catalog, view, call) {
        let server = passed_to.server;
        let text = format!(
            "server `{}` does not list it, but gets every name, because nothing is filtered here",
            server.name()
        );
        links.push(Link::passes(Stage::Filter, text));
        links.push(Link::passes(Stage::Roles, role_text(&RoleVerdict::Open)));
        links.push(Link::passes(Stage::Policy, NO_RULES));
        links.push(lock_link(server));
        links.push(Link::passes(Stage::Arguments, NOT_CHECKED));
        links.extend(server.links(call));
    } else if let Some((server, _)) = sign_in::signed_out(catalog, view, call) {
        links.push(unknown(format!("the caller has to sign in to server `{}` first", server.name())));
    } else {
        let (text, setting) = missing(catalog, view, call);
        links.push(Link { text, setting, ..Link::stops(Stage::Filter, fault) });
    }
}

fn not_offered(server: &Server, own: &str) -> (String, Option<String>) {
    let name = server.name();
    (format!("the settings of server `{name}` do not offer `{own}`"), Some(format!("mcp.servers.{name}")))
}

/// The reason why a view has no tool of this name, and the setting that decided it.
fn missing(catalog: &Catalog, view: &View, call: &Call) -> (String, Option<String>) {
    let Some(Located::Unlisted(server, own)) = Located::of_call(catalog, view, call) else {
        return ("no server of this view has the prefix of this name".to_owned(), None);
    };
    let name = server.name();
    if let Some(refused) = view.refused.iter().find(|it| it.server == *name && it.why.name == own) {
        return (format!("server `{name}`: {}", refused.why.reason), None);
    }
    let alone = catalog.views.get(format!("server/{name}").as_str());
    if alone.is_some_and(|alone| alone.tools.routes().iter().any(|route| route.inner() == own)) {
        return ("the view leaves it out".to_owned(), Some(format!("views.{}", view.name)));
    }
    let report = catalog.report.servers.iter().find(|report| report.server == name.as_ref());
    let quarantined = report.and_then(|report| report.quarantined.iter().find(|kept| kept.what.name == own));
    if let Some(kept) = quarantined {
        return (format!("server `{name}` lists it, but {}", kept.what.reason), None);
    }
    if !server.access(&catalog.policy).offers(&own) {
        return not_offered(server, &own);
    }
    (format!("server `{name}` does not list `{own}`"), None)
}
