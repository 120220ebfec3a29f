// table
//! Permissions of an approved project file, key by key. Such a file was written by someone else,
//! so it can never weaken the security settings of the user's own file or the built-in defaults.
//!
//! Every key of the schema has an entry here (a test checks that); a key without one is refused.

use Narrower::{Added, Denying, Fewer, Loopback, Lower, Off, On, Ordered, True, WithoutRoles};
use ProjectMay::{Narrow, Never, Set};

/// Permission of a project's file to set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectMay {
    /// Any value: it is not security-relevant, or concerns only the project's own servers.
    Set,
    /// Only values at least as strict as the effective value without the project.
    Narrow(Narrower),
    /// No value: the key belongs in the user's own file.
    Never,
}

/// Rule that decides whether a value is at least as strict as that of the layers below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Narrower {
    /// Rules that deny, read before those of the layers below.
    Denying,
    /// A loopback address.
    Loopback,
    /// A number or duration that is not larger.
    Lower,
    /// A rate limit with no more calls at once and in the long run.
    Fewer,
    /// `true`, or the value below.
    On,
    /// `false`, or the value below.
    Off,
    /// `true`: an entry for another pattern may be stricter than the value below this key.
    True,
    /// One of these values, not earlier in the list than the value below.
    Ordered(&'static [&'static str]),
    /// A list whose items are added to those below.
    Added,
    /// Any value, if the layers below set neither roles nor a default role.
    WithoutRoles,
}

/// Keys, with `*` for user-chosen names. Keys below `mcp.servers.*`, `views.*` and `roles.*` apply
/// to entries that the user's own file has; see [`Fresh`] for others.
const TABLE: &[(&str, ProjectMay)] = &[
    ("$schema", Set),
    ("listen", Narrow(Loopback)),
    ("handshake", Narrow(Ordered(&["optional", "required"]))),
    ("errors", Set),
    ("disclosure", Set),
    ("toolBudget", Set),
    ("lock", Narrow(Ordered(&["off", "report", "enforce"]))),
    ("lockFile", Never),
    ("mcp.servers.*.type", Never),
    ("mcp.servers.*.enabled", Narrow(Off)),
    ("mcp.servers.*.command", Never),
    ("mcp.servers.*.environment", Never),
    ("mcp.servers.*.inherit", Never),
    ("mcp.servers.*.cwd", Never),
    ("mcp.servers.*.adapter", Never),
    ("mcp.servers.*.url", Never),
    ("mcp.servers.*.headers", Never),
    ("mcp.servers.*.callerHeaders", Never),
    ("mcp.servers.*.oauth", Never),
    ("mcp.servers.*.transport", Never),
    ("mcp.servers.*.insecure", Never),
    ("mcp.servers.*.era", Set),
    ("mcp.servers.*.pack", Never),
    ("mcp.servers.*.root", Never),
    ("mcp.servers.*.write", Never),
    ("mcp.servers.*.run", Never),
    ("mcp.servers.*.network", Never),
    ("mcp.servers.*.compatibility", Never),
    ("mcp.servers.*.github", Never),
    ("mcp.servers.*.gitlab", Never),
    ("mcp.servers.*.allow", Never),
    ("mcp.servers.*.deny", Narrow(Added)),
    ("mcp.servers.*.tools.*.rename", Never),
    ("mcp.servers.*.tools.*.hide", Narrow(True)),
    ("mcp.servers.*.tools.*.description", Never),
    ("mcp.servers.*.tools.*.annotations", Never),
    ("mcp.servers.*.tools.*.tags", Never),
    ("mcp.servers.*.tools.*.idempotent", Never),
    ("mcp.servers.*.tools.*.timeout", Set),
    ("defaults.start", Set),
    ("defaults.idleStop", Set),
    ("defaults.restart.first", Set),
    ("defaults.restart.most", Set),
    ("defaults.restart.factor", Set),
    ("defaults.restart.healthyAfter", Set),
    ("defaults.breaker.failures", Set),
    ("defaults.breaker.openFor", Set),
    ("defaults.breaker.trials", Set),
    ("defaults.retry.attempts", Set),
    ("defaults.retry.first", Set),
    ("defaults.retry.most", Set),
    ("defaults.retry.budget", Set),
    ("defaults.timeout.startup", Set),
    ("defaults.timeout.request", Set),
    ("defaults.timeout.ceiling", Set),
    ("defaults.concurrency", Narrow(Lower)),
    ("defaults.queue", Narrow(Lower)),
    ("defaults.rate", Narrow(Fewer)),
    ("defaults.sessions", Narrow(Ordered(&["shared", "caller"]))),
    ("defaults.maxSessions", Narrow(Lower)),
    ("defaults.arguments", Narrow(Ordered(&["passed", "checked"]))),
    ("defaults.resultBytes", Set),
    ("defaults.lists.ttl", Set),
    ("defaults.lists.items", Narrow(Lower)),
    ("defaults.lists.pages", Narrow(Lower)),
    ("views.*.servers", Never),
    ("views.*.tools", Never),
    ("views.*.hide", Narrow(Added)),
    ("views.*.naming", Never),
    ("views.*.description", Never),
    ("views.*.disclosure", Set),
    ("views.*.toolBudget", Set),
    ("views.*.resultBytes", Set),
    ("roles.*.allow", Never),
    ("roles.*.deny", Narrow(Added)),
    ("roles.*.callers", Never),
    ("roles.*.scopes", Never),
    ("roles.*.operate", Never),
    ("defaultRole", Narrow(WithoutRoles)),
    ("tls", Never),
    ("insecureHttp", Never),
    ("publicUrl", Never),
    ("policy.default", Narrow(Ordered(&["allow", "ask", "deny"]))),
    ("policy.rules", Narrow(Denying)),
    ("auth.keys", Never),
    ("auth.jwt", Never),
    ("auth.issuers", Never),
    ("auth.hosts", Never),
    ("auth.origins", Never),
    ("auth.trustedProxies", Never),
    ("auth.stateKey", Never),
    ("hooks.*.on", Never),
    ("hooks.*.tools", Never),
    ("hooks.*.command", Never),
    ("hooks.*.url", Never),
    ("hooks.*.headers", Never),
    ("hooks.*.whenItFails", Never),
    ("hooks.*.shows", Never),
    ("hooks.*.timeout", Never),
    ("hooks.*.concurrency", Never),
    ("hooks.*.concurrencyPerCaller", Never),
    ("limits.bodyBytes", Narrow(Lower)),
    ("limits.memoryBytes", Narrow(Lower)),
    ("limits.headerTimeout", Narrow(Lower)),
    ("limits.idleTimeout", Narrow(Lower)),
    ("limits.bodyTimeout", Narrow(Lower)),
    ("limits.writeTimeout", Narrow(Lower)),
    ("limits.connections", Narrow(Lower)),
    ("limits.sessions", Narrow(Lower)),
    ("limits.sessionsPerCaller", Narrow(Lower)),
    ("limits.sessionIdle", Narrow(Lower)),
    ("limits.calls", Narrow(Lower)),
    ("limits.parked", Narrow(Lower)),
    ("limits.parkedFor", Narrow(Lower)),
    ("limits.approvals", Narrow(Lower)),
    ("limits.approvalTimeout", Narrow(Lower)),
    ("limits.stateFor", Narrow(Lower)),
    ("limits.personalCatalogs", Narrow(Lower)),
    ("limits.personalIdle", Narrow(Lower)),
    ("limits.loginFor", Narrow(Lower)),
    ("limits.executions", Narrow(Lower)),
    ("limits.executionQueue", Narrow(Lower)),
    ("limits.executionTimeout", Narrow(Lower)),
    ("limits.executionRetention", Narrow(Lower)),
    ("limits.executionBytes", Narrow(Lower)),
    ("limits.executionBytesTotal", Narrow(Lower)),
    ("limits.replayEvents", Narrow(Lower)),
    ("limits.replayBytes", Narrow(Lower)),
    ("limits.keepAlive", Set),
    ("limits.listGrace", Set),
    ("limits.drain", Narrow(Lower)),
    ("limits.perCaller", Narrow(Fewer)),
    ("limits.perTool", Narrow(Fewer)),
    ("audit.enabled", Narrow(On)),
    ("audit.directory", Never),
    ("audit.durability", Narrow(Ordered(&["batch", "sync"]))),
    ("audit.segmentBytes", Never),
    ("audit.patience", Never),
    ("audit.whenItFails", Narrow(Ordered(&["allow", "refuse-changes", "refuse-all"]))),
    ("audit.signing.key", Never),
    ("audit.signing.interval", Narrow(Lower)),
    ("audit.signing.records", Narrow(Lower)),
    ("audit.signing.syslog", Never),
    ("audit.signing.otlp", Never),
    ("accessLog.enabled", Narrow(On)),
    ("accessLog.file", Never),
    ("telemetry.endpoint", Never),
    ("telemetry.headers", Never),
    ("telemetry.serviceName", Set),
    ("telemetry.sample", Narrow(Lower)),
    ("telemetry.timeout", Narrow(Lower)),
    ("store.path", Never),
    ("store.url", Never),
    ("documents.fileBytes", Narrow(Lower)),
    ("documents.memoryBytes", Narrow(Lower)),
    ("documents.outputBytes", Narrow(Lower)),
    ("documents.inlineBytes", Set),
    ("documents.concurrency", Narrow(Lower)),
    ("documents.concurrencyPerCaller", Never),
    ("documents.timeout", Narrow(Lower)),
    ("documents.ocr", Narrow(Ordered(&["auto", "off"]))),
    ("documents.ocrLanguages", Set),
    ("documents.ocrPages", Narrow(Lower)),
    ("documents.keep", Narrow(Lower)),
    ("documents.keptBytesPerCaller", Narrow(Lower)),
    ("documents.keptBytes", Narrow(Lower)),
    ("documents.fetch.allow", Never),
    ("documents.fetch.bytes", Narrow(Lower)),
    ("documents.fetch.silence", Narrow(Lower)),
    ("documents.fetch.timeout", Narrow(Lower)),
];

/// Permission for an entry, such as a server, that the user's own file does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fresh {
    /// The project may set any of its keys.
    Free,
    /// Refused if the user's own file has other entries of this kind: a further role would grant
    /// additional access.
    FreeIfFirst,
}

/// The objects with user-chosen names, and the permission for new entries in each.
pub(crate) const FRESH: &[(&str, Fresh)] =
    &[("mcp.servers", Fresh::Free), ("views", Fresh::Free), ("roles", Fresh::FreeIfFirst)];

/// Permission for a key such as `mcp.servers.*.deny`; `None` if the key has no entry, or its
/// members have their own.
pub(crate) fn may(pattern: &str) -> Option<ProjectMay> {
    let find = |wanted: &str| TABLE.iter().find(|(key, _)| *key == wanted).map(|(_, may)| *may);
    // A server's options are those of `defaults`.
    let option = || pattern.strip_prefix("mcp.servers.*.").and_then(|key| find(&format!("defaults.{key}")));
    find(pattern).or_else(option)
}

/// True if the members of an object have user-chosen names.
pub(crate) fn has_chosen_names(pattern: &str) -> bool {
    let below = format!("{pattern}.*.");
    TABLE.iter().any(|(key, _)| key.starts_with(&below))
}

impl ProjectMay {
    /// For the reference page.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Never => "—",
            Self::Narrow(narrower) => narrower.text(),
        }
    }
}

impl Narrower {
    fn text(self) -> &'static str {
        match self {
            Self::Loopback => "loopback only",
            Self::Lower => "lower",
            Self::Fewer => "fewer calls",
            Self::On | Self::True => "`true` only",
            Self::Off => "`false` only",
            Self::Ordered(_) => "stricter",
            Self::Added => "add",
            Self::Denying => "add rules that deny",
            Self::WithoutRoles => "if you have no roles",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::schema;
    use serde_json::Value as Json;

    /// Collects the keys of all leaf values.
    fn leaves(schema: &Json, path: &str, found: &mut Vec<String>) {
        if may(path).is_some() {
            return found.push(path.to_owned());
        }
        let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let properties = schema["properties"].as_object();
        for (name, schema) in properties.into_iter().flatten() {
            leaves(schema, &join(name), found);
        }
        if schema["additionalProperties"].is_object() {
            leaves(&schema["additionalProperties"], &join("*"), found);
        } else if properties.is_none() {
            found.push(path.to_owned());
        }
    }

    #[test]
    fn v08_every_key_has_a_line_and_every_line_a_key() {
        let mut found = Vec::new();
        leaves(&schema(), "", &mut found);
        let undecided: Vec<&String> = found.iter().filter(|key| may(key).is_none()).collect();
        assert!(undecided.is_empty(), "say what a project's file may do with {undecided:?}");
        for (key, _) in TABLE {
            assert!(found.iter().any(|known| known == key), "there is no key `{key}`");
        }
    }

    /// An entry for an object also applies to keys added to it later, so it has to be strict.
    #[test]
    fn only_refusals_and_rates_decide_for_whole_objects() {
        for (key, may) in TABLE {
            let schema = key.split('.').fold(schema().as_ref().clone(), |schema, part| match part {
                "*" => schema["additionalProperties"].clone(),
                part => schema["properties"][part].clone(),
            });
            if schema["properties"].is_object() {
                assert!(matches!(may, Never | Narrow(Fewer)), "{key}");
            }
        }
    }

    #[test]
    fn no_name_is_listed_twice() {
        let mut keys: Vec<&str> = TABLE.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        let count = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
