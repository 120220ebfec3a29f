//! Explains a call to the gateway of this process: the whole chain from the configuration to the
//! server.

use super::{Running, operate::answer, policy::place};
use crate::{
    environment::Environment,
    wire::{gate, issuer, keys, operator},
};
use futures_util::future::{BoxFuture, FutureExt};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc, time::SystemTime};
use trunkline_auth::{Identity, Principal};
use trunkline_config::{HookEvent, Layered, Settings};
use trunkline_gateway::{
    Gateway,
    explain::{Decision, Link, Stage, Verdict},
    limit::Rates,
};
use trunkline_protocol::{Call, Caller, Raw, message::meta, method};
use trunkline_serve::{Command, Controlled};

/// Path of the command, below `/control/`.
pub(crate) const PATH: &str = "explain";

/// The call to explain.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) tool: String,
    /// The path of the view below `/mcp/`; `None` for `/mcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<String>,
    /// The caller as in rules; `None` for the local user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<String>,
    /// Roles, scopes and claims of the caller's token, besides those of its API key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) roles: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) claims: BTreeMap<String, Vec<String>>,
    /// The name that the client gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) arguments: Map<String, Value>,
}

/// A gateway and the settings behind it, by which calls are explained.
#[derive(Clone)]
pub(crate) struct Explainer {
    pub(super) gateway: Gateway,
    pub(super) settings: Settings,
    pub(super) layered: Layered,
    pub(super) environment: Environment,
}

/// The chain of decisions about a call.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Explanation {
    tool: String,
    caller: String,
    pub(crate) verdict: Verdict,
    pub(crate) links: Vec<Link>,
}

impl Wanted {
    /// The call as its client would send it.
    pub(crate) fn call(&self, caller: Arc<Caller>) -> Call {
        let mut params = json!({"name": self.tool, "arguments": self.arguments});
        if let Some(client) = &self.client {
            params["_meta"] = json!({(meta::CLIENT_INFO): {"name": client, "version": ""}});
        }
        let mut call = Call::new(method::TOOLS_CALL, Some(Raw::from(params)));
        call.caller = caller;
        call.view = self.view.as_deref().map(Arc::from);
        call
    }

    /// The caller, and the decision about its identity.
    pub(crate) fn identified(&self, settings: &Settings, gateway: &Gateway) -> (Arc<Caller>, Link) {
        let Some(text) = &self.caller else {
            return (Caller::local(), Link::passes(Stage::Identity, "the local user"));
        };
        let principal = Principal::from_rule(text);
        let id = principal.to_string();
        let refused = |why: &dyn std::fmt::Display, code: u16| {
            let link = Link::new(Stage::Identity, Decision::Stops, why.to_string()).by_setting("auth");
            link.with_code(format!("HTTP {code}"))
        };
        let (identity, text) = match known(&principal, settings) {
            Ok(known) => known,
            Err(why) => return (Arc::new(Caller::named(id)), refused(&why, 401)),
        };
        let caller = self.completed(identity);
        let is_token = matches!(principal, Principal::Token { .. });
        let helpful = if is_token { gateway.helpful_scopes(&caller) } else { Vec::new() };
        if !helpful.is_empty() {
            let why = format!("the token has no scope that gives a role; one of: {}", helpful.join(" "));
            return (Arc::new(caller), refused(&why, 403));
        }
        if principal == Principal::Local {
            return (Caller::local(), Link::passes(Stage::Identity, text));
        }
        (Arc::new(caller), Link::passes(Stage::Identity, text))
    }

    /// The caller with everything that is known of it, identified or not.
    pub(crate) fn assumed_caller(&self, settings: &Settings) -> Arc<Caller> {
        let principal = self.caller.as_deref().map_or(Principal::Local, Principal::from_rule);
        let named = Identity { principal: principal.clone(), ..Identity::anonymous() };
        let identity = known(&principal, settings).map_or(named, |(identity, _)| identity);
        Arc::new(self.completed(identity))
    }

    /// The caller of an identity, with the roles, scopes and claims given here.
    fn completed(&self, identity: Identity) -> Caller {
        let mut caller = gate::caller(identity);
        caller.roles.extend(self.roles.iter().cloned());
        caller.scopes.extend(self.scopes.iter().cloned());
        caller.claims.extend(self.claims.clone());
        caller
    }

    /// True if the caller is an API key whose roles are known.
    pub(crate) fn is_known(&self, settings: &Settings) -> bool {
        let principal = self.caller.as_deref().map_or(Principal::Local, Principal::from_rule);
        matches!(principal, Principal::Key { .. }) && known(&principal, settings).is_ok()
    }
}

/// The identity that the configuration gives to a principal, and a text about it.
fn known(principal: &Principal, settings: &Settings) -> Result<(Identity, String), String> {
    let named = || Identity { principal: principal.clone(), ..Identity::anonymous() };
    match principal {
        Principal::Local | Principal::Anonymous => Ok((named(), "the local user".to_owned())),
        Principal::Certificate { subject } => {
            Ok((named(), format!("client certificate `{subject}`, taken as valid")))
        }
        Principal::Token { issuer, subject } => {
            if !issuer::all(&settings.auth).iter().any(|known| known.issuer == *issuer) {
                return Err(format!("tokens of `{issuer}` are not accepted"));
            }
            Ok((named(), format!("token of `{subject}`, taken as valid")))
        }
        Principal::Key { id } => {
            let path = settings.auth.keys.as_ref().ok_or("no API keys are configured")?;
            let all = keys::read(path).map_err(|failure| failure.to_text())?;
            match all.find(id) {
                None => Err(format!("there is no API key `{id}` in {}", path.display())),
                Some(Err(error)) => Err(format!("API key `{id}`: {error}")),
                Some(Ok(identity)) => {
                    let roles = match identity.roles.as_slice() {
                        [] => "no roles".to_owned(),
                        roles => format!("roles {}", roles.join(", ")),
                    };
                    let text = format!("API key `{id}` of {}, {roles}", path.display());
                    Ok((Identity::clone(&identity), text))
                }
            }
        }
    }
}

impl Running {
    /// The gateway and the settings that hold now.
    pub(crate) fn explainer(&self) -> Explainer {
        let now = self.now();
        Explainer {
            gateway: self.gateway.clone(),
            settings: now.settings.clone(),
            layered: now.layered.clone(),
            environment: self.environment.clone(),
        }
    }
}

impl Explainer {
    /// Explains a call as if it were made now.
    pub(crate) async fn explain(&self, wanted: &Wanted, rates: Option<&Rates>) -> Explanation {
        let Self { gateway, settings, layered, environment } = self;
        let (caller, identity) = wanted.identified(settings, gateway);
        let call = wanted.call(caller);
        let decided = gateway.explain(&call, None::<SystemTime>).await;
        let mut links = vec![configuration(settings, (layered, &decided), &wanted.tool), identity];
        links.push(match rates.map(|rates| rates.peek(&call)) {
            None => Link::passes(Stage::Limits, "no rates are limited here"),
            Some(Ok(())) => Link::passes(Stage::Limits, "within the rates"),
            Some(Err(fault)) => Link::stops(Stage::Limits, &fault).by_setting("limits"),
        });
        links.push(hooks(settings));
        links.extend(decided);
        let stop = links.iter().position(|link| link.decision == Decision::Stops);
        for link in links.iter_mut().skip(stop.map_or(usize::MAX, |stop| stop + 1)) {
            *link = Link::unreached(link.stage);
        }
        for link in &mut links {
            // The error of a server may repeat what we sent.
            link.text = environment.concealed.hide(&link.text);
            if let Some(setting) = &link.setting
                && link.rule.is_none()
            {
                link.rule = Some(format!("`{setting}`{}", written_at(layered, setting)));
            }
        }
        let verdict = Verdict::of(&links);
        Explanation { tool: wanted.tool.clone(), caller: call.caller.id.clone(), verdict, links }
    }

    /// Carries out `explain`, for operators. The call is the JSON of the parameter `call`.
    pub(super) fn command(
        self,
        command: &Command<'_>,
        rates: Option<Arc<Rates>>,
    ) -> BoxFuture<'static, Controlled> {
        let refused =
            |status, error: &str| std::future::ready(answer(status, &json!({ "error": error }))).boxed();
        if !self.gateway.may_operate(&command.caller) {
            return refused(StatusCode::FORBIDDEN, "this needs a role with `\"operate\": true`");
        }
        // An agent of this machine must not learn the rules that it is kept from.
        let is_proven = operator::is_proven(command.headers, operator::secret(&self.environment).as_deref());
        if Caller::is_local(&command.caller) && !is_proven {
            let error =
                "the operator's secret is missing: use `trunkline explain` as the user of the gateway";
            return refused(StatusCode::FORBIDDEN, error);
        }
        let query = command.query.unwrap_or_default();
        let call = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "call");
        let wanted = match call.map(|(_, json)| serde_json::from_str::<Wanted>(&json)) {
            Some(Ok(wanted)) => wanted,
            Some(Err(error)) => return refused(StatusCode::BAD_REQUEST, &format!("`call`: {error}")),
            None => return refused(StatusCode::BAD_REQUEST, "the parameter `call` is missing"),
        };
        async move {
            let explanation = self.explain(&wanted, rates.as_deref()).await;
            answer(StatusCode::OK, &json!(explanation))
        }
        .boxed()
    }
}

/// The server by the prefix of the name. `decided` are the links of the gateway: in some views,
/// names have no prefix.
fn configuration(settings: &Settings, (layered, decided): (&Layered, &[Link]), tool: &str) -> Link {
    let is_found =
        !decided.iter().any(|link| link.stage == Stage::Filter && link.decision == Decision::Stops);
    let server = tool.split_once('_').map(|(server, _)| server);
    let configured = server.filter(|name| settings.servers.keys().any(|known| known.as_ref() == *name));
    match (configured, server) {
        (Some(server), _) => Link::passes(Stage::Configuration, format!("server `{server}` is configured"))
            .by_setting(format!("mcp.servers.{server}")),
        (None, Some(server)) if layered.origin(&["mcp", "servers", server]).is_some() => {
            Link::passes(Stage::Configuration, format!("server `{server}` is not enabled"))
                .by_setting(format!("mcp.servers.{server}"))
        }
        _ if is_found => Link::passes(Stage::Configuration, "the name needs no prefix of a server here"),
        _ => {
            let text = "the name has no prefix of a configured server; tools are called `<server>_<tool>`";
            Link::new(Stage::Configuration, Decision::Unknown, text)
        }
    }
}

fn hooks(settings: &Settings) -> Link {
    let asks = |hook: &&trunkline_config::Hook| hook.on.contains(&HookEvent::Before);
    match settings.hooks.values().filter(asks).count() {
        0 => Link::passes(Stage::Hooks, "no hook is asked before calls"),
        count => Link::new(
            Stage::Hooks,
            Decision::Unknown,
            format!("{} may refuse the call; not asked here", trunkline_secrets::counted(count, "hook")),
        )
        .by_setting("hooks"),
    }
}

/// ` (<file>:<line>)` of a setting, or of what it is part of.
fn written_at(layered: &Layered, setting: &str) -> String {
    let parts: Vec<&str> = setting.split('.').collect();
    let found = (1..=parts.len()).rev().find_map(|length| layered.origin(&parts[..length]));
    found.map(|origin| format!(" ({})", place(&origin))).unwrap_or_default()
}
