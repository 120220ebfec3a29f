//! Builds the rules of the catalog and the policy from the configuration.

use super::policy;
use globset::Glob;
use trunkline_auth::Principal;
use trunkline_config::{
    Arguments, Naming as NamingSetting, Reach, Server, Settings, ToolChange, ToolDisclosure, View,
};
use trunkline_gateway::{
    catalog::{ItemRules, KindRules, Rules, ServerRules},
    disclosure::Disclosure,
    policy::{FilterRules, PolicyRules, RoleRules},
    view::{Naming, ViewRules},
};
use trunkline_protocol::{Object, Raw, ServerName};

pub(super) fn of(settings: &Settings) -> Rules {
    Rules {
        servers: settings.servers.iter().map(|(name, server)| (name.clone(), server_rules(server))).collect(),
        main: ViewRules {
            disclosure: disclosure(settings.disclosure),
            budget: settings.tool_budget,
            ..ViewRules::default()
        },
        views: settings.views.iter().map(|(name, view)| (name.clone(), view_rules(view, settings))).collect(),
        policy: policy_rules(settings),
    }
}

fn server_rules(server: &Server) -> ServerRules {
    let items = server.tools.iter().map(|rule| (rule.tool.clone(), item_rules(&rule.change))).collect();
    ServerRules {
        tools: KindRules { filter: filter(&server.allow, &server.deny), items },
        check_arguments: server.options.arguments == Arguments::Checked,
        over_http: matches!(server.reach, Reach::Remote(_)),
        trusted: matches!(server.reach, Reach::Builtin(_)),
        result_bytes: bytes(server.options.result_bytes),
        ..ServerRules::default()
    }
}

fn item_rules(change: &ToolChange) -> ItemRules {
    let mut annotations = Object::new();
    for (name, value) in &change.annotations {
        annotations.set(name.clone(), Raw::from(value.clone()));
    }
    ItemRules {
        rename: change.rename.clone(),
        hide: change.hide,
        description: change.description.clone(),
        annotations,
        tags: change.tags.clone(),
    }
}

fn view_rules(view: &View, settings: &Settings) -> ViewRules {
    ViewRules {
        servers: Some(servers_in(view, settings)),
        tools: filter(&view.tools, &view.hide),
        naming: match view.naming {
            NamingSetting::Prefixed => Naming::Prefixed,
            NamingSetting::Bare => Naming::Bare,
        },
        instructions: view.description.clone(),
        disclosure: disclosure(view.disclosure),
        budget: view.tool_budget,
        result_bytes: bytes(view.result_bytes),
        ..ViewRules::default()
    }
}

fn bytes(setting: Option<u64>) -> Option<usize> {
    setting.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn disclosure(setting: ToolDisclosure) -> Disclosure {
    match setting {
        ToolDisclosure::All => Disclosure::All,
        ToolDisclosure::Names => Disclosure::Names,
        ToolDisclosure::Search => Disclosure::Search,
        ToolDisclosure::Auto => Disclosure::Auto,
    }
}

fn servers_in(view: &View, settings: &Settings) -> Vec<ServerName> {
    // Patterns were validated when the configuration was read.
    let globs: Vec<_> =
        view.servers.iter().filter_map(|text| Some(Glob::new(text).ok()?.compile_matcher())).collect();
    let fits = |name: &&ServerName| globs.iter().any(|glob| glob.is_match(name.as_ref()));
    settings.servers.keys().filter(fits).cloned().collect()
}

/// The policy of a gateway whose only server keeps its own names: rules that allow match names
/// without the server's prefix, as rules that deny always do.
pub(super) fn policy_without_prefix(settings: &Settings, server: &str) -> PolicyRules {
    let mut rules = policy_rules(settings);
    let roles = rules.roles.values_mut().chain(&mut rules.otherwise);
    let allowed = roles.flat_map(|role| role.filter.allow.iter_mut().flatten());
    let of_rules = rules.rules.rules.iter_mut().flat_map(|rule| &mut rule.tools);
    // A glob that begins with `!` is refused by the policy, so it is left as it is.
    for glob in allowed.chain(of_rules).filter(|glob| !glob.starts_with('!')) {
        *glob = format!("{server}_{glob}");
    }
    rules
}

pub(super) fn policy_rules(settings: &Settings) -> PolicyRules {
    let role = |role: &trunkline_config::Role| RoleRules {
        filter: filter(&role.allow, &role.deny),
        callers: role.callers.iter().map(|name| Principal::from_rule(name).to_string()).collect(),
        scopes: role.scopes.clone(),
        operate: role.operate,
    };
    let otherwise = settings.default_role.as_ref().and_then(|name| settings.roles.get(name));
    PolicyRules {
        roles: settings.roles.iter().map(|(name, given)| (name.clone(), role(given))).collect(),
        otherwise: otherwise.map(role),
        rules: policy::rules(&settings.policy),
    }
}

/// A list with `*` allows everything, so it becomes no list at all, which is cheaper to check.
fn filter(allow: &[String], deny: &[String]) -> FilterRules {
    let everything = allow.iter().any(|glob| glob == "*");
    FilterRules { allow: (!everything).then(|| allow.to_vec()), deny: deny.to_vec() }
}
