//! Rules of the group `config`.

rules![
    approved_unseen,
    duplicate_server,
    inline_secret,
    listens_everywhere,
    look_alike_package,
    old_transport,
    plain_http,
    reachable_server,
    secret_in_url,
    shell_command,
    unpinned_package,
    unverified_tls,
    wide_access,
];

use crate::{
    engine::ConfigSubject,
    outcome::{Finding, Skip},
    rules::secrets,
};
use serde_json::{Map, Value};

/// One server of a configuration, ours or of a client we know.
#[derive(Debug)]
struct Server<'a> {
    name: &'a str,
    value: &'a Value,
    pointer: String,
}

/// What is fetched to start a server.
#[derive(Debug)]
struct Package<'a> {
    name: &'a str,
    version: Option<&'a str>,
}

/// Members under which clients keep their servers.
const MEMBERS: &[&str] = &["mcpServers", "servers", "context_servers", "mcp"];

/// Parts of the names of secrets, in lower case.
const SECRET_NAMES: &[&str] =
    &["token", "secret", "password", "passwd", "api_key", "apikey", "api-key", "access_key", "private_key", "authorization"];

/// Words in names that have a word like those and hold no secret.
const NO_SECRETS: &[&str] = &["file", "path", "max_", "_limit", "url", "tokenizer", "tokens", "_name", "_id", "_type", "endpoint"];

/// All servers of a configuration.
fn servers(config: &ConfigSubject) -> Result<Vec<Server<'_>>, Skip> {
    let found = MEMBERS.iter().find_map(|member| Some((*member, config.value.get(member)?)));
    let (member, value) = found.ok_or_else(|| Skip::not_applicable("the file names no servers"))?;
    let inner = value.get("servers").filter(|inner| inner.is_object());
    let base = if inner.is_some() { format!("/{member}/servers") } else { format!("/{member}") };
    let entries = inner.unwrap_or(value).as_object();
    let entries = entries.ok_or_else(|| Skip::not_verified("the servers are no object"))?;
    let pointer = |name: &str| format!("{base}/{}", name.replace('~', "~0").replace('/', "~1"));
    Ok(entries
        .iter()
        .filter(|(_, value)| value.is_object())
        .map(|(name, value)| Server { name, value, pointer: pointer(name) })
        .collect())
}

impl<'a> Server<'a> {
    fn finding(&self, message: impl Into<String>) -> Finding {
        Finding::new(message).about(self.name).note(format!("at {}", self.pointer))
    }

    /// The program without its folder.
    fn program(&self) -> Option<&'a str> {
        let command = self.value["command"].as_str()?;
        command.rsplit(['/', '\\']).next()
    }

    fn args(&self) -> Vec<&'a str> {
        self.value["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn env(&self) -> Vec<(&'a str, &'a str)> {
        texts(self.value["env"].as_object())
    }

    fn url(&self) -> Option<url::Url> {
        let text = ["url", "serverUrl", "httpUrl"].into_iter().find_map(|member| self.value[member].as_str())?;
        url::Url::parse(text).ok()
    }

    /// The package that a runner fetches.
    fn package(&self) -> Option<Package<'a>> {
        let args = self.args();
        let program = self.program()?.trim_end_matches(".cmd").trim_end_matches(".exe");
        match program {
            "npx" | "bunx" | "pnpx" => npm(args.into_iter().find(|arg| !arg.starts_with('-'))?),
            "npm" | "pnpm" | "yarn" if matches!(args.first(), Some(&"exec" | &"dlx")) => {
                npm(args.into_iter().skip(1).find(|arg| !arg.starts_with('-'))?)
            }
            "cmd" if args.get(1) == Some(&"npx") => npm(args.into_iter().skip(2).find(|arg| !arg.starts_with('-'))?),
            "uvx" => python(after_from(&args)?),
            "pipx" if args.first() == Some(&"run") => python(args.into_iter().skip(1).find(|arg| !arg.starts_with('-'))?),
            "docker" | "podman" if args.first() == Some(&"run") => image(&args[1..]),
            _ => None,
        }
    }

    /// Secrets that are written out: where, and masked.
    fn secrets(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (member, pairs) in [("env", self.env()), ("headers", texts(self.value["headers"].as_object()))] {
            for (name, value) in pairs {
                let lower = name.to_ascii_lowercase();
                let named = SECRET_NAMES.iter().any(|part| lower.contains(part)) && !NO_SECRETS.iter().any(|part| lower.contains(part));
                let bare = value.trim_start_matches("Bearer ").trim_start_matches("Basic ").trim();
                if is_written_out(bare) && (named || secrets::find(bare).is_some()) {
                    found.push((format!("`{name}` in `{member}`"), masked(bare)));
                }
            }
        }
        for arg in self.args() {
            if let Some(kind) = secrets::find(arg) {
                found.push(("an argument".to_owned(), format!("{kind}, {}", masked(arg))));
            }
        }
        found
    }
}

fn texts(members: Option<&Map<String, Value>>) -> Vec<(&str, &str)> {
    members.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
}

/// Whether a value is a secret itself, and no reference, placeholder or flag.
fn is_written_out(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let placeholder = ["your", "xxx", "<", "example", "changeme", "placeholder", "todo"].iter().any(|part| lower.contains(part));
    value.len() >= 8 && !value.contains('$') && !value.contains("{{") && !placeholder && !value.starts_with(['/', '~', '.'])
}

fn masked(value: &str) -> String {
    let shown: String = value.chars().take(4).collect();
    format!("{shown}… ({} characters)", value.chars().count())
}

/// `@scope/name@1.2.3`: tags such as `latest` are no version.
fn npm(text: &str) -> Option<Package<'_>> {
    if text.starts_with(['.', '/']) {
        return None;
    }
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, version) = at.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let exact = version.filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    Some(Package { name, version: exact })
}

/// `name==1.2.3` or `name@1.2.3`.
fn python(text: &str) -> Option<Package<'_>> {
    if text.starts_with(['.', '/']) || text.contains("://") {
        return None;
    }
    let (name, version) = match text.split_once("==").or_else(|| text.split_once('@')) {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let exact = version.filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    Some(Package { name: name.split('[').next().unwrap_or(name), version: exact })
}

/// What `uvx` fetches: behind `--from`, or the first word.
fn after_from<'a>(args: &[&'a str]) -> Option<&'a str> {
    let from = args.iter().position(|arg| *arg == "--from").and_then(|at| args.get(at + 1));
    from.or_else(|| args.iter().find(|arg| !arg.starts_with('-'))).copied()
}

/// Options of `docker run` that take no value.
const FLAGS: &[&str] = &["-i", "-t", "-it", "-ti", "-d", "--rm", "--init", "--privileged", "--read-only", "--interactive", "--tty"];

/// The image behind the options of `docker run`.
fn image<'a>(args: &[&'a str]) -> Option<Package<'a>> {
    let mut rest = args.iter();
    let image = loop {
        let arg = rest.next()?;
        if !arg.starts_with('-') {
            break *arg;
        }
        if !FLAGS.contains(arg) && !arg.contains('=') {
            rest.next();
        }
    };
    if let Some((name, digest)) = image.split_once('@') {
        return Some(Package { name, version: Some(digest) });
    }
    let last = image.rsplit('/').next().unwrap_or(image);
    match last.split_once(':') {
        Some((_, tag)) if tag != "latest" => Some(Package { name: image, version: Some(tag) }),
        _ => Some(Package { name: image, version: None }),
    }
}
