//! Resolves one server: its kind, required keys, and keys that do not belong to its kind.

use super::{Pair, Resolver, parts::is_pattern, references::is_disabled};
use crate::{
    expand::{has_reference, shown},
    jsonc::Node,
    keys::{WrittenOAuth, WrittenServer, check::join},
    layered::over_defaults,
    looks,
    problem::{Code, Severity},
    secret::{MASK, Secret},
    settings::{
        Adapted, Builtin, GrantSetting, Local, OAuth, OAuthClient, Pack, Reach, Remote, Server,
        ServerOptions, ToolRule, Unusable,
    },
    source::Layer,
};
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};
use trunkline_protocol::ServerName;

const LOCAL: &[&str] = &["command", "environment", "inherit", "cwd", "adapter"];
const REMOTE: &[&str] = &["url", "headers", "callerHeaders", "oauth", "transport", "insecure"];
const BUILTIN: &[&str] = &["pack", "root", "write", "run", "network", "compatibility", "github", "gitlab"];

impl Resolver<'_> {
    /// The enabled servers, and the names of the disabled ones.
    pub(super) fn servers(&mut self, whole: Pair<'_>) -> (BTreeMap<ServerName, Server>, Vec<ServerName>) {
        let (mut servers, mut disabled) = (BTreeMap::new(), Vec::new());
        let Some(defaults) = whole.get("defaults") else { return (servers, disabled) };
        let mut folded: HashMap<String, String> = HashMap::new();
        for (name, written) in whole.at(&["mcp", "servers"]).into_iter().flat_map(Pair::entries) {
            let key = join("mcp.servers", name);
            let Some(server) = self.name(name, written.written, &key) else { continue };
            if let Some(twin) = folded.insert(name.to_lowercase(), name.to_owned()) {
                let message = format!(
                    "`{name}` and `{twin}` differ only in case; people and file systems would mix them up"
                );
                self.report(Code::Conflict, written.written, &key, message);
            }
            if is_disabled(written.written) {
                disabled.push(server);
                continue;
            }
            // Merge the defaults into both trees, so that they keep the same shape.
            let both = (
                over_defaults(defaults.written, written.written),
                over_defaults(defaults.read, written.read),
            );
            let built = if self.unusable.contains_key(name) {
                None
            } else {
                self.server(&server, Pair { written: &both.0, read: &both.1 }, &key)
            };
            // Building it may have found that it is unusable.
            let built = match self.unusable.get(name) {
                Some(reasons) => unusable(&server, defaults.read, reasons),
                None => built,
            };
            servers.extend(built.map(|built| (server, built)));
        }
        (servers, disabled)
    }

    fn name(&mut self, name: &str, at: &Node, key: &str) -> Option<ServerName> {
        match name.parse::<ServerName>() {
            Ok(name) => Some(name),
            Err(error) => {
                let hint = format!("call it `{}`", crate::import::legal_name(name));
                self.report(Code::BadValue, at, key, error.to_string()).suggestion = Some(hint);
                None
            }
        }
    }

    fn server(&mut self, name: &ServerName, both: Pair<'_>, key: &str) -> Option<Server> {
        let kind = self.kind(both.written, key)?;
        let written: WrittenServer = self.typed(both, key)?;
        let reach = match kind {
            "local" => self.local(&written, both, key).map(Reach::Local),
            "remote" => self.remote(&written, both, key).map(Reach::Remote),
            _ => self.builtin(&written, both, key).map(Reach::Builtin),
        };
        let tools = self.tools(both, key);
        let options = self.options(written.options, both, key);
        let allow = written.allow.unwrap_or_else(|| vec!["*".to_owned()]);
        Some(Server { name: name.clone(), reach: reach?, options, allow, deny: written.deny, tools })
    }

    /// The kind of the server, from `type` or its other keys; keys of other kinds are reported.
    fn kind(&mut self, server: &Node, key: &str) -> Option<&'static str> {
        let kinds = [("local", LOCAL), ("remote", REMOTE), ("builtin", BUILTIN)];
        let said = server.get("type").and_then(Node::text);
        let seen = kinds.iter().find(|(_, keys)| server.get(keys[0]).is_some()).map(|(kind, _)| *kind);
        let kind = match said {
            Some(said) => kinds.iter().find(|(kind, _)| *kind == said).map(|(kind, _)| *kind)?,
            None => seen.or_else(|| {
                self.report(
                    Code::Missing,
                    server,
                    key,
                    "the server has no `command`, no `url` and no `pack`",
                )
                .suggestion = Some(
                    "write one of them; `enabled` and options alone only adjust a server of a lower layer"
                        .to_owned(),
                );
                None
            })?,
        };
        for (other, keys) in kinds.iter().filter(|(other, _)| *other != kind) {
            for entry in server.entries().iter().filter(|entry| keys.contains(&entry.key.as_str())) {
                if kind == "local" && entry.key == "root" && server.get("adapter").is_some() {
                    continue;
                }
                let message = format!("`{}` is for {other} servers, and this one is {kind}", entry.key);
                self.report(Code::Conflict, &entry.node, &join(key, &entry.key), message);
            }
        }
        Some(kind)
    }

    fn local(&mut self, written: &WrittenServer, both: Pair<'_>, key: &str) -> Option<Local> {
        let Some(program) = written.command.first().filter(|program| !program.trim().is_empty()) else {
            if !self.is_reported(&format!("{key}.command[0]")) {
                self.report(
                    Code::Missing,
                    both.written,
                    &join(key, "command"),
                    "a local server needs a `command`",
                );
            }
            return None;
        };
        let words: Vec<Pair<'_>> = both.get("command").into_iter().flat_map(Pair::items).collect();
        let arguments = words.iter().enumerate().skip(1).map(|(index, word)| {
            let before = words[index - 1].written.text();
            Secret::new(
                word.read.text().unwrap_or_default(),
                shown_argument(before, word.written.text().unwrap_or_default()),
            )
        });
        let variables = both.get("environment").into_iter().flat_map(Pair::entries).map(|(name, pair)| {
            let text = pair.written.text().unwrap_or_default();
            let shown = if looks::secret(name, text) { MASK.to_owned() } else { shown(text) };
            (name.to_owned(), Secret::new(pair.read.text().unwrap_or_default(), shown))
        });
        let directory = if let Some(cwd) = &written.cwd {
            PathBuf::from(cwd)
        } else {
            let command = both.get("command").map_or(both.written, |command| command.written);
            self.layered.sources.directory(command.place).to_owned()
        };
        Some(Local {
            program: Secret::new(program, words.first().map_or_else(String::new, shown_word)),
            arguments: arguments.collect(),
            environment: variables.collect(),
            inherit: written.inherit.clone(),
            directory,
            era: written.era,
            adapter: written.adapter.map(|adapter| Adapted { adapter, roots: self.roots(both) }),
        })
    }

    fn remote(&mut self, written: &WrittenServer, both: Pair<'_>, key: &str) -> Option<Remote> {
        let Some(url) = written.url.as_ref().filter(|url| !url.is_empty()) else {
            if !self.is_reported(&join(key, "url")) {
                self.report(Code::Missing, both.written, &join(key, "url"), "a remote server needs a `url`");
            }
            return None;
        };
        let as_written = both.get("url").and_then(|url| url.written.text()).unwrap_or_default();
        let address =
            Secret::new(url, looks::masked_address(as_written).unwrap_or_else(|| shown(as_written)));
        Some(Remote {
            url: address,
            headers: self.headers(both.get("headers"), &join(key, "headers")),
            caller_headers: self.caller_headers(&written.caller_headers, both, key),
            oauth: self.oauth(written.oauth.as_ref(), both.get("oauth"), &join(key, "oauth")),
            transport: written.transport,
            era: written.era,
            insecure: written.insecure,
        })
    }

    /// Headers are assumed to be credentials, so literal values are never shown.
    pub(super) fn headers(&mut self, headers: Option<Pair<'_>>, key: &str) -> BTreeMap<String, Secret> {
        let mut found = BTreeMap::new();
        for (name, pair) in headers.into_iter().flat_map(Pair::entries) {
            let key = join(key, name);
            let value = pair.read.text().unwrap_or_default();
            if name.is_empty() || !name.bytes().all(is_header_byte) {
                self.report(Code::BadValue, pair.written, &key, format!("`{name}` cannot name a header"));
            }
            if value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
                let message = "the value has characters that are not allowed in a header";
                self.report_value(Code::BadValue, pair.written, &key, message);
            }
            if name.eq_ignore_ascii_case("authorization")
                && looks::credential(value).is_empty()
                && !self.is_reported(&key)
            {
                self.report_value(Code::WeakSecret, pair.written, &key, "the credential is empty");
            }
            found.insert(name.to_owned(), pair.secret());
        }
        found
    }

    fn oauth(&mut self, written: Option<&WrittenOAuth>, at: Option<Pair<'_>>, key: &str) -> OAuth {
        let client = match written {
            Some(WrittenOAuth::Switch(false)) => return OAuth::Off,
            None | Some(WrittenOAuth::Switch(true)) => return OAuth::Auto(Box::default()),
            Some(WrittenOAuth::Client(client)) => client,
        };
        let client_secret = self.oauth_secret(at, key, "clientSecret");
        let private_key = self.oauth_secret(at, key, "privateKey");
        let proof = client_secret.is_some() || private_key.is_some();
        if client.grant == GrantSetting::ClientCredentials
            && (client.client_id.is_none() || !proof)
            && let Some(at) = at
        {
            let message =
                "the grant `clientCredentials` needs `clientId`, and `clientSecret` or `privateKey`";
            self.report(Code::Missing, at.written, key, message);
        }
        if client.grant == GrantSetting::TokenExchange
            && client.client_id.is_none()
            && let Some(at) = at
        {
            let message = "the grant `tokenExchange` needs `clientId`";
            self.report(Code::Missing, at.written, key, message);
        }
        OAuth::Auto(Box::new(OAuthClient {
            grant: client.grant,
            client_id: client.client_id.clone(),
            client_secret,
            private_key,
            key_id: client.key_id.clone(),
            client_metadata_url: client.client_metadata_url.clone(),
            scopes: client.scopes.clone(),
            callback_port: client.callback_port,
            redirect_uri: client.redirect_uri.clone(),
            auth_endpoint: client.auth_endpoint.clone(),
            token_endpoint: client.token_endpoint.clone(),
            metadata_url: client.metadata_url.clone(),
            resource: client.resource.clone(),
            audience: client.audience.clone(),
            subject_token_type: client.subject_token_type.clone(),
        }))
    }

    fn oauth_secret(&mut self, at: Option<Pair<'_>>, key: &str, name: &str) -> Option<Secret> {
        let pair = at.and_then(|at| at.get(name)).filter(|secret| secret.read.text().is_some())?;
        let value = pair.read.text().unwrap_or_default();
        let key = join(key, name);
        if looks::weak(value) && !self.is_reported(&key) {
            let message = "the secret is empty, well known or too short";
            self.report_value(Code::WeakSecret, pair.written, &key, message);
        }
        Some(pair.secret())
    }

    fn builtin(&mut self, written: &WrittenServer, both: Pair<'_>, key: &str) -> Option<Builtin> {
        let Some(pack) = written.pack else {
            self.report(Code::Missing, both.written, &join(key, "pack"), "a builtin server needs a `pack`");
            return None;
        };
        let roots = self.roots(both);
        if pack != Pack::Ci {
            for name in ["github", "gitlab", "run"] {
                if let Some(entry) = both.written.entry(name) {
                    self.report(
                        Code::Conflict,
                        &entry.node,
                        &join(key, name),
                        format!("`{name}` is for the pack `ci`"),
                    );
                }
            }
        }
        Some(Builtin {
            pack,
            roots,
            write: written.write,
            run: written.run,
            network: written.network,
            compatibility: written.compatibility,
            github: written.github.clone(),
            gitlab: written.gitlab.clone(),
        })
    }

    /// The directories in `root`, or else the current one.
    fn roots(&self, both: Pair<'_>) -> Vec<PathBuf> {
        let root = both.get("root");
        let path = |root: Pair<'_>| root.read.text().map(PathBuf::from);
        let mut roots: Vec<PathBuf> = root.into_iter().filter_map(path).collect();
        roots.extend(root.into_iter().flat_map(Pair::items).filter_map(path));
        if roots.is_empty() {
            roots.push(self.layered.sources.start().to_owned());
        }
        roots
    }

    fn tools(&mut self, both: Pair<'_>, key: &str) -> Vec<ToolRule> {
        let mut rules = Vec::new();
        let mut names: HashMap<String, String> = HashMap::new();
        for (tool, pair) in both.get("tools").into_iter().flat_map(Pair::entries) {
            let key = join(&join(key, "tools"), tool);
            if let Err(error) = globset::Glob::new(tool) {
                self.report(
                    Code::BadValue,
                    pair.written,
                    &key,
                    format!("`{tool}` is not a pattern: {}", error.kind()),
                );
            }
            let Some(change): Option<crate::settings::ToolChange> = self.typed(pair, &key) else { continue };
            if let Some(rename) = &change.rename {
                let at = pair.get("rename").map_or(pair.written, |rename| rename.written);
                if is_pattern(tool) {
                    self.report(
                        Code::Conflict,
                        at,
                        &join(&key, "rename"),
                        "only one tool can have a name, not all that fit a pattern",
                    );
                } else if let Some(other) = names.insert(rename.clone(), tool.to_owned()) {
                    self.report(
                        Code::Conflict,
                        at,
                        &join(&key, "rename"),
                        format!("`{other}` is called `{rename}` already"),
                    );
                }
            }
            rules.push(ToolRule { tool: tool.to_owned(), change });
        }
        rules
    }

    /// Checks options that depend on each other.
    fn options(&mut self, mut options: ServerOptions, both: Pair<'_>, key: &str) -> ServerOptions {
        let timeout = &mut options.timeout;
        if timeout.request > timeout.ceiling
            && let Some(ceiling) = both.at(&["timeout", "ceiling"])
        {
            if self.layered.sources.get(ceiling.written.place.source).layer == Layer::BuiltIn {
                timeout.ceiling = timeout.request;
            } else {
                let message = "the ceiling is below the time for one request";
                self.report(Code::Conflict, ceiling.written, &join(key, "timeout.ceiling"), message);
            }
        }
        for (part, first, most) in [
            ("restart", options.restart.first, options.restart.most),
            ("retry", options.retry.first, options.retry.most),
        ] {
            if first > most
                && let Some(at) = both.at(&[part, "first"])
            {
                self.report(
                    Code::Conflict,
                    at.written,
                    &join(key, &format!("{part}.first")),
                    "the first pause is longer than the longest",
                );
            }
        }
        options
    }

    /// Reports a wrong value. If it comes from a reference of a server, only this server is
    /// disabled.
    fn report_value(&mut self, code: Code, at: &Node, key: &str, message: &str) {
        let server = key.strip_prefix("mcp.servers.").and_then(|key| key.split('.').next());
        let server = server.filter(|_| at.text().is_some_and(has_reference)).map(str::to_owned);
        let problem = self.report(code, at, key, message);
        if let Some(server) = server {
            problem.severity = Severity::Warning;
            problem.message = format!("{message}, so the server `{server}` is not used");
            self.unusable.entry(server).or_default().push(format!("`{key}`: {message}"));
        }
    }

    fn is_reported(&self, key: &str) -> bool {
        self.problems.iter().any(|problem| problem.is_error() && problem.key == key)
    }
}

/// A server that is disabled until its references can be resolved.
fn unusable(name: &ServerName, defaults: &Node, reasons: &[String]) -> Option<Server> {
    // Wrong defaults are reported where they are read.
    let options = serde_json::from_value(defaults.to_json()).ok()?;
    let reach = Reach::Unusable(Unusable { reason: reasons.join("; ") });
    let (allow, deny, tools) = (vec!["*".to_owned()], Vec::new(), Vec::new());
    Some(Server { name: name.clone(), reach, options, allow, deny, tools })
}

/// A word of a command line, with its references as written.
fn shown_word(word: &Pair<'_>) -> String {
    shown_argument(None, word.written.text().unwrap_or_default())
}

/// The argument with secrets masked.
pub(crate) fn shown_argument(before: Option<&str>, word: &str) -> String {
    if let Some((keep, _)) = looks::secret_argument(before, word) {
        return format!("{}{MASK}", &word[..keep]);
    }
    let word = shown(word);
    looks::masked_address(&word).unwrap_or(word)
}

pub(super) fn is_header_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
