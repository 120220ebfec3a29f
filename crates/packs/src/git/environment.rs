//! The environment and the fixed settings of every git process.

use std::ffi::{OsStr, OsString};

use super::options::{GitOptions, Hooks, Network, Ownership, UserSettings};

/// Search path of git and ssh for their own programs.
const PATH: &str = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin";

/// Value of the list of allowed transports if none is allowed; no transport has this name.
const NO_PROTOCOL: &str = "none";

/// Ssh command without prompts, forwarding or local commands.
const SSH: &str = "ssh -o BatchMode=yes -o ClearAllForwardings=yes -o PermitLocalCommand=no";

/// Settings that override those of every file: git's defaults, and the user's settings if they are
/// read. A repository's dangerous settings are already removed by `allowed_settings`; this is the
/// second line of defence. A setting that needs a command to be switched off is set to `:`, the
/// shell's no-op, because an empty value would be run as a command in some places.
const SETTINGS: [(&str, &str); 49] = [
    ("blame.ignoreRevsFile", ""),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", ":"),
    ("core.askPass", ""),
    ("core.attributesFile", "/dev/null"),
    // Larger files are streamed and not diffed.
    ("core.bigFileThreshold", "16m"),
    ("core.editor", ":"),
    ("core.fsmonitor", "false"),
    // It names packs by path, also outside of the repository.
    ("core.multiPackIndex", "false"),
    ("core.pager", "cat"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.quotePath", "false"),
    ("core.sshCommand", SSH),
    // The index may have one, with names of directories that git would list.
    ("core.untrackedCache", "false"),
    // An empty value resets the list of helpers, including those for single addresses.
    ("credential.helper", ""),
    ("credential.interactive", "false"),
    ("diff.external", ":"),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.noprefix", "false"),
    ("diff.orderFile", "/dev/null"),
    ("diff.submodule", "short"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("init.templateDir", ""),
    ("log.mailmap", "false"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("merge.autoStash", "false"),
    ("merge.verifySignatures", "false"),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("push.followTags", "false"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
    ("rebase.autoStash", "false"),
    // A bare repository is used only if `discovery` accepted it; then `GIT_DIR` names it.
    ("safe.bareRepository", "explicit"),
    ("sequence.editor", ":"),
    ("submodule.recurse", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("tag.gpgSign", "false"),
    ("transfer.bundleURI", "false"),
    ("uploadpack.packObjectsHook", ":"),
    // Otherwise git would derive a name from the host, which would end up in the history.
    ("user.useConfigOnly", "true"),
];

/// The kind of a command, which determines its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It only reads, without taking locks.
    Read,
    /// It changes the repository.
    Write,
    /// It talks to another machine.
    Network,
}

/// Settings in the order in which git reads them.
pub(super) type Settings = Vec<(OsString, OsString)>;

/// The fixed settings for these options.
pub(super) fn settings(options: &GitOptions) -> Settings {
    let mut settings: Settings =
        SETTINGS.iter().map(|(key, value)| (OsString::from(key), OsString::from(value))).collect();
    let mut set = |key: &str, value: &str| settings.push((key.into(), value.into()));
    if options.hooks == Hooks::Off {
        set("core.hooksPath", "/dev/null");
    }
    if options.user_settings == UserSettings::Ignored {
        set("core.excludesFile", "/dev/null");
    }
    if options.ownership == Ownership::Anyone {
        set("safe.directory", "*");
    }
    settings
}

/// The complete environment of a command, including `settings`.
pub(super) fn environment(
    options: &GitOptions,
    mode: Mode,
    settings: &Settings,
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: &OsStr| variables.push((name.into(), value.to_owned()));
    for (name, value) in [
        ("PATH", PATH),
        // Without HOME, git fails on a path that starts with a tilde.
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C"),
        ("GIT_ASKPASS", ""),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_EDITOR", ":"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_PAGER", "cat"),
        ("GIT_SEQUENCE_EDITOR", ":"),
        ("GIT_SSH_COMMAND", SSH),
        ("GIT_SSH_VARIANT", "ssh"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("SSH_ASKPASS", ""),
    ] {
        set(name, value.as_ref());
    }
    match &options.user_settings {
        UserSettings::Ignored => set("GIT_CONFIG_GLOBAL", "/dev/null".as_ref()),
        UserSettings::Read(path) => set("GIT_CONFIG_GLOBAL", path.as_os_str()),
    }
    if mode == Mode::Read {
        set("GIT_OPTIONAL_LOCKS", "0".as_ref());
    }
    set("GIT_ALLOW_PROTOCOL", protocols(options, mode).as_ref());
    set("GIT_CONFIG_COUNT", settings.len().to_string().as_ref());
    for (index, (key, value)) in settings.iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{index}"), key);
        set(&format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    if mode == Mode::Network {
        let given =
            options.environment.iter().filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_"));
        variables.extend(given.cloned());
    }
    variables
}

fn protocols(options: &GitOptions, mode: Mode) -> String {
    match (mode, options.network) {
        (Mode::Network, Network::Allowed) if !options.protocols.is_empty() => options.protocols.join(":"),
        _ => NO_PROTOCOL.into(),
    }
}
