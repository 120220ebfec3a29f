//! The environment and the fixed settings that every git process gets.

use std::ffi::{OsStr, OsString};

use super::options::{GitOptions, Hooks, Network, Ownership, UserSettings};

/// Where git and ssh find the programs that they are made of.
const PATH: &str = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin";

/// The transport list when no transport may be used; no transport has this name.
const NO_PROTOCOL: &str = "none";

/// Ssh that asks nothing, forwards nothing and runs nothing on this side.
const SSH: &str = "ssh -o BatchMode=yes -o ClearAllForwardings=yes -o PermitLocalCommand=no";

/// Settings that win over those of every file: git's defaults, and the user's settings where they are read. Those of a
/// repository are not among what must be switched off here, because git sees only the ones that `allowed_settings`
/// lets through; this is the second line of defence. Where a command must be given to switch one off, it is `:`, the
/// shell's way to do nothing; an empty text would do in some places and be run in others.
const SETTINGS: [(&str, &str); 47] = [
    ("blame.ignoreRevsFile", ""),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", ":"),
    ("core.askPass", ""),
    ("core.attributesFile", "/dev/null"),
    // Larger files are streamed, and not compared line by line.
    ("core.bigFileThreshold", "16m"),
    ("core.editor", ":"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.quotePath", "false"),
    ("core.sshCommand", SSH),
    // An empty entry forgets all helpers named before it, those for single addresses included.
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
    // A bare repository is used only where `discovery` decided so, and is then named outright.
    ("safe.bareRepository", "explicit"),
    ("sequence.editor", ":"),
    ("submodule.recurse", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("tag.gpgSign", "false"),
    ("transfer.bundleURI", "false"),
    ("uploadpack.packObjectsHook", ":"),
    // A name made up from the machine's would end up in the history.
    ("user.useConfigOnly", "true"),
];

/// What a command does, as far as its environment is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It only looks, and takes no lock for that.
    Read,
    /// It changes the repository.
    Write,
    /// It talks to another machine.
    Network,
}

/// Settings in the order in which git shall read them.
pub(super) type Settings = Vec<(OsString, OsString)>;

/// The fixed settings under these options.
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

/// The whole environment of a command, with `settings` among it.
pub(super) fn environment(
    options: &GitOptions,
    mode: Mode,
    settings: &Settings,
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: &OsStr| variables.push((name.into(), value.to_owned()));
    for (name, value) in [
        ("PATH", PATH),
        // Without a home, a path that starts with a tilde would be a fatal error.
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
