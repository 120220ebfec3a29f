//! Builder: makes the next snapshot and rebuilds only the parts that changed.

use super::{
    BadRules, Catalog, CatalogReport, Compiled, Kept, Quarantined, Rules, ServerFilters, ServerReport,
};
use crate::{
    disclosure::{self, ViewCost},
    gateway::Source,
    policy::Policy,
    upstream::{Kind, Offer},
    view::{Naming, Share, View, ViewFilters, ViewRules},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use trunkline_protocol::{Caller, Raw, ServerName};

const KINDS: [Kind; 4] = [Kind::Tools, Kind::Prompts, Kind::Resources, Kind::Templates];
/// Most characters of a view's name.
const MAX_VIEW_NAME: usize = 64;

/// The input of the next snapshot, and the parts of the last one for reuse.
pub(crate) struct Builder {
    plan: Plan,
    generation: u64,
    /// True if the plan is newer than the last snapshot.
    replaced: bool,
    shares: HashMap<ServerName, Share>,
    views: HashMap<Arc<str>, (Vec<Share>, Arc<View>)>,
}

/// Servers and rules, checked and compiled.
#[derive(Clone)]
pub(crate) struct Plan {
    sources: Vec<Arc<dyn Source>>,
    servers: HashMap<ServerName, Arc<ServerFilters>>,
    policy: Arc<Policy>,
    main: Arc<ViewFilters>,
    views: Vec<(Arc<str>, Arc<ViewFilters>)>,
    alone: Arc<ViewFilters>,
}

impl Plan {
    pub(crate) fn new(rules: &Rules, sources: Vec<Arc<dyn Source>>) -> Result<Self, BadRules> {
        let mut names = HashSet::new();
        if let Some(twice) = sources.iter().find(|source| !names.insert(source.name().clone())) {
            return Err(BadRules::Twice(twice.name().clone()));
        }
        for (view, rules) in rules.views.iter().chain([(&"main".to_owned(), &rules.main)]) {
            check_view(view, rules, &names)?;
        }
        let servers =
            names.iter().map(|name| Ok((name.clone(), Arc::new(ServerFilters::of_server(rules, name)?))));
        let views = rules
            .views
            .iter()
            .map(|(name, rules)| Ok((name.as_str().into(), ViewFilters::new(rules)?.into())));
        let alone = ViewRules { naming: Naming::Bare, ..ViewRules::default() };
        Ok(Self {
            servers: servers.collect::<Result<_, BadRules>>()?,
            policy: Arc::new(Policy::new(&rules.policy)?),
            main: ViewFilters::new(&rules.main)?.into(),
            views: views.collect::<Result<_, BadRules>>()?,
            alone: ViewFilters::new(&alone)?.into(),
            sources,
        })
    }

    pub(crate) fn sources(&self) -> &[Arc<dyn Source>] {
        &self.sources
    }

    /// The same rules, with the servers as this caller sees them.
    pub(crate) fn as_seen_by(&self, caller: &Caller) -> Self {
        let own = |source: &Arc<dyn Source>| source.as_seen_by(caller).unwrap_or_else(|| Arc::clone(source));
        Self { sources: self.sources.iter().map(own).collect(), ..self.clone() }
    }
}

fn check_view(view: &str, rules: &ViewRules, names: &HashSet<ServerName>) -> Result<(), BadRules> {
    let good = (1..=MAX_VIEW_NAME).contains(&view.len())
        && view.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !good {
        return Err(BadRules::ViewName(view.to_owned()));
    }
    match rules.servers.iter().flatten().find(|server| !names.contains(*server)) {
        Some(server) => Err(BadRules::UnknownServer { view: view.to_owned(), server: server.clone() }),
        None => Ok(()),
    }
}

impl Builder {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, generation: 0, replaced: true, shares: HashMap::new(), views: HashMap::new() }
    }

    /// A builder of the catalog that this caller sees. It reuses all parts of servers that are the
    /// same for all callers.
    pub(crate) fn as_seen_by(&self, caller: &Caller) -> Self {
        Self {
            plan: self.plan.as_seen_by(caller),
            generation: self.generation,
            replaced: true,
            shares: self.shares.clone(),
            views: self.views.clone(),
        }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Replaces servers and rules; no part of the old snapshot is reused.
    pub(crate) fn replace(&mut self, plan: Plan) {
        self.plan = plan;
        self.replaced = true;
        self.shares.clear();
        self.views.clear();
    }

    /// The next snapshot; `None` if nothing changed.
    pub(crate) fn build(&mut self) -> Option<Catalog> {
        let shares: Vec<Share> = self.plan.sources.iter().map(|source| self.share(source)).collect();
        let same = |share: &Share| self.shares.get(share.source.name()).is_some_and(|old| old.same(share));
        if !std::mem::take(&mut self.replaced) && self.shares.len() == shares.len() && shares.iter().all(same)
        {
            return None;
        }
        self.generation += 1;
        self.shares = shares.iter().map(|share| (share.source.name().clone(), share.clone())).collect();
        let main = self.view("", &shares, &self.plan.main);
        let mut views = Vec::new();
        for (name, filters) in &self.plan.views {
            views.push(self.view(name, &shares, filters));
        }
        for share in &shares {
            let address = format!("server/{}", share.source.name());
            views.push(self.view(&address, std::slice::from_ref(share), &self.plan.alone));
        }
        let alone = views.iter().skip(self.plan.views.len()).map(|(_, view)| Arc::clone(view)).collect();
        self.views =
            views.iter().chain([&main]).map(|made| (Arc::clone(&made.1.name), made.clone())).collect();
        let views: HashMap<Arc<str>, Arc<View>> =
            views.into_iter().map(|(_, view)| (Arc::clone(&view.name), view)).collect();
        let report = self.report(&shares, &main.1, &views);
        Some(Catalog { policy: Arc::clone(&self.plan.policy), main: main.1, views, alone, report })
    }

    /// The view; the old one if nothing in it changed.
    fn view(&self, name: &str, shares: &[Share], filters: &ViewFilters) -> (Vec<Share>, Arc<View>) {
        let wanted = |share: &&Share| {
            filters.rules.servers.as_ref().is_none_or(|servers| servers.contains(share.source.name()))
        };
        let shares: Vec<Share> = shares.iter().filter(wanted).cloned().collect();
        if let Some((old, view)) = self.views.get(name)
            && old.len() == shares.len()
            && old.iter().zip(&shares).all(|(old, new)| old.same(new))
        {
            return (shares, Arc::clone(view));
        }
        let view = Arc::new(View::new(name.into(), &shares, filters));
        (shares, view)
    }

    fn share(&self, source: &Arc<dyn Source>) -> Share {
        let offer = source.offer();
        let ours =
            |offer: Option<&Offer>| offer.map_or((false, &[][..]), |offer| (offer.signs_in, offer.own_tools));
        let (is_ours, own_tools) = ours(offer.as_deref());
        let is_alike = |old: &&Share| {
            Arc::ptr_eq(&old.source, source) && ours(old.offer.as_deref()) == (is_ours, own_tools)
        };
        let old = self.shares.get(source.name()).filter(is_alike);
        let filters = &self.plan.servers[source.name()];
        let lists = KINDS.map(|kind| {
            let list = offer.as_deref().map_or_else(Arc::default, |offer| list_of(offer, kind));
            match old.map(|old| old.list(kind)).filter(|old| old.still_holds(&list)) {
                Some(old) => Arc::clone(old),
                None if is_ours => Arc::new(Compiled::of_ours(kind, &list, filters)),
                None => {
                    let own = if kind == Kind::Tools { own_tools } else { &[] };
                    Arc::new(compiled(source.name(), kind, &list, own, filters))
                }
            }
        });
        Share { source: Arc::clone(source), offer, lists, filters: Arc::clone(filters) }
    }

    fn report(&self, shares: &[Share], main: &View, views: &HashMap<Arc<str>, Arc<View>>) -> CatalogReport {
        let mut names: Vec<String> = views.keys().map(ToString::to_string).collect();
        names.sort_unstable();
        let servers = shares.iter().map(|share| server_report(share, main)).collect();
        let mut costs = vec![ViewCost::of(main)];
        costs.extend(
            self.plan.views.iter().filter_map(|(name, _)| views.get(name)).map(|view| ViewCost::of(view)),
        );
        for cost in costs.iter().filter(|cost| cost.is_over_budget()) {
            tracing::warn!(
                view = cost.view,
                tokens = cost.listed_tokens,
                budget = cost.budget,
                "the listed tools of a view cost more than its toolBudget; consider `\"disclosure\": \"search\"`"
            );
        }
        CatalogReport { generation: self.generation, servers, views: names, costs }
    }
}

/// Compiles a list, and logs what differs from the lock file.
fn compiled(
    server: &ServerName,
    kind: Kind,
    list: &Arc<[Raw]>,
    own: &[&str],
    filters: &ServerFilters,
) -> Compiled {
    let compiled = Compiled::new(kind, list, own, filters);
    for (name, drift) in &compiled.drifted {
        tracing::warn!(%server, kind = word(kind), ?name, %drift, "a definition differs from the lock file");
    }
    compiled
}

fn server_report(share: &Share, main: &View) -> ServerReport {
    let name = share.source.name();
    let count = |kind| share.list(kind).items.len();
    let tool_bytes = share.list(Kind::Tools).items.iter().map(|item| item.listing.as_bytes().len()).sum();
    let mut quarantined = Vec::new();
    let mut hidden = Vec::new();
    let mut drifted = Vec::new();
    for kind in KINDS {
        let list = share.list(kind);
        let kept = |what: &Quarantined| Kept { kind: word(kind), what: what.clone() };
        quarantined.extend(list.quarantined.iter().map(kept));
        let refused = main.refused.iter().filter(|refused| refused.kind == kind && refused.server == *name);
        quarantined.extend(refused.map(|refused| kept(&refused.why)));
        drifted.extend(
            list.drifted
                .iter()
                .map(|(name, drift)| kept(&Quarantined { name: name.clone(), reason: drift.to_string() })),
        );
        hidden.extend(
            list.hidden.iter().map(|name| {
                kept(&Quarantined { name: name.clone(), reason: "the rules hide it".to_owned() })
            }),
        );
    }
    if let Some(offer) = &share.offer
        && let Some(drift) = share.filters.instructions_drift(offer)
    {
        let what = Quarantined { name: String::new(), reason: drift.to_string() };
        drifted.push(Kept { kind: "instructions", what });
    }
    ServerReport {
        server: name.to_string(),
        heard: share.offer.is_some(),
        stale: share.offer.as_ref().is_some_and(|offer| offer.stale),
        tools: count(Kind::Tools),
        tokens: disclosure::tokens(tool_bytes),
        prompts: count(Kind::Prompts),
        resources: count(Kind::Resources),
        templates: count(Kind::Templates),
        quarantined,
        hidden,
        drifted,
    }
}

fn list_of(offer: &Offer, kind: Kind) -> Arc<[Raw]> {
    Arc::clone(match kind {
        Kind::Tools => &offer.tools,
        Kind::Prompts => &offer.prompts,
        Kind::Resources => &offer.resources,
        Kind::Templates => &offer.templates,
    })
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "tool",
        Kind::Prompts => "prompt",
        Kind::Resources => "resource",
        Kind::Templates => "template",
    }
}
