//! Builds components from settings: the only module that turns command-line options and
//! configuration into options of the libraries.

pub(crate) mod account;
pub(crate) mod carry;
pub(crate) mod doctor;
pub(crate) mod documents;
mod fetch;
pub(crate) mod flags;
pub(crate) mod gate;
pub(crate) mod gateway;
pub(crate) mod hooks;
mod issuer;
mod keys;
pub(crate) mod lineage;
pub(crate) mod memory;
pub(crate) mod named;
pub(crate) mod observed;
pub(crate) mod operator;
pub(crate) mod packs;
pub(crate) mod reach;
mod reread;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod signing;
pub(crate) mod stack;
pub(crate) mod store;
pub(crate) mod tls;

use crate::{
    args::{AskArgs, ConnectionArgs, EraChoice, IdChoice},
    arguments::pair,
    commands::Context,
    environment::{self, Environment},
    expand::expand,
    failure::Failure,
    terminal::{Answers, TerminalHost, Wishes, trace},
};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::{path::Path, sync::Arc, time::Duration};
use trunkline_client::{
    Ability, ConnectOptions, DEFAULT_LIST_TTL, Exposure, Ids, RevisionChoice, Target, Unattended,
    cache::LONGEST_TTL,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_config::parse_time;
use trunkline_protocol::{Era, message::Root};
use trunkline_transport::http::{ClientCertificate, HttpOptions, Pem};
use url::Url;

/// The target, completed with the command-line options.
pub(crate) fn target(
    target: Target,
    args: &ConnectionArgs,
    environment: &Environment,
) -> Result<Target, Failure> {
    match target {
        Target::Url(_) => {
            refuse("--env", !args.variables.is_empty(), "a command")?;
            refuse("--cwd", args.cwd.is_some(), "a command")?;
            Ok(target)
        }
        Target::Command(mut command) => {
            refuse("--header", !args.headers.is_empty(), "an address")?;
            refuse("--cacert", !args.ca_files.is_empty(), "an address")?;
            refuse("--cert", args.cert.is_some(), "an address")?;
            for word in &args.variables {
                let bad = || Failure::usage(format!("--env `{word}` is not `NAME=VALUE`"));
                let (name, value) = pair(word).ok_or_else(bad)?;
                let value = expanded(value, &format!("--env {name}"), environment)?;
                command.environment.push((name.to_owned(), value));
            }
            if args.cwd.is_some() {
                command.directory.clone_from(&args.cwd);
            }
            Ok(Target::Command(command))
        }
    }
}

/// The connection options, with the host that answers questions.
pub(crate) fn options(args: &ConnectionArgs, context: &Context) -> Result<ConnectOptions, Failure> {
    let host = TerminalHost::new(context.screen.clone(), wishes(&args.ask, args)?);
    Ok(ConnectOptions {
        speak: speak(args.era, &context.environment)?,
        timeouts: timeouts(args)?,
        http: http(args, &context.environment)?,
        exposure: if args.allow_plain_http { Exposure::Accept } else { Exposure::Refuse },
        environment: context.environment.all(),
        ids: match args.ids {
            IdChoice::Uuid => Ids::Uuid,
            IdChoice::Int => Ids::Integer,
        },
        list_ttl: list_ttl(&context.environment)?,
        host: Arc::new(host),
        tap: args.trace.then(|| trace(context.screen.clone())),
        ..ConnectOptions::default()
    })
}

/// The connection options of a bridge: its client answers questions, and the roots given here are
/// used while there is none.
pub(crate) fn bridge_options(args: &ConnectionArgs, context: &Context) -> Result<ConnectOptions, Failure> {
    let roots: Result<Vec<Root>, Failure> = args.ask.roots.iter().map(|folder| root(folder)).collect();
    let host = Arc::new(Unattended { roots: roots? });
    Ok(ConnectOptions { host, ..options(args, context)? })
}

fn refuse(option: &str, given: bool, needs: &str) -> Result<(), Failure> {
    if given {
        Err(Failure::usage(format!("{option} can be used only if the target is {needs}")))
    } else {
        Ok(())
    }
}

fn expanded(text: &str, place: &str, environment: &Environment) -> Result<String, Failure> {
    expand(text, place, environment).map_err(|missing| Failure::usage(missing.to_string()))
}

fn speak(era: Option<EraChoice>, environment: &Environment) -> Result<RevisionChoice, Failure> {
    match era {
        Some(EraChoice::Legacy) => Ok(RevisionChoice::Era(Era::Legacy)),
        Some(EraChoice::Modern) => Ok(RevisionChoice::Era(Era::Modern)),
        Some(EraChoice::Auto) => Ok(RevisionChoice::Newest),
        None => revision(environment).map_err(Failure::usage),
    }
}

/// The revision that the environment asks for.
fn revision(environment: &Environment) -> Result<RevisionChoice, String> {
    let Some(revision) = environment.get_filled(environment::PROTOCOL_VERSION) else {
        return Ok(RevisionChoice::Newest);
    };
    let revision = revision.parse().map(RevisionChoice::Exactly);
    revision.map_err(|unknown| format!("{}: {unknown}", environment::PROTOCOL_VERSION))
}

fn timeouts(args: &ConnectionArgs) -> Result<Timeouts, Failure> {
    let usual = TimeoutOptions::default();
    let call = args.timeout.unwrap_or(usual.call);
    let options = TimeoutOptions { connect: args.connect_timeout(), call, ceiling: usual.ceiling.max(call) };
    Timeouts::new(options).map_err(|error| Failure::usage(error.to_string()))
}

/// The TTL of lists whose server gives none. For configured servers, the configuration has the same
/// variable as a layer.
fn list_ttl(environment: &Environment) -> Result<Duration, Failure> {
    let Some(text) = environment.get_filled(environment::TOOL_CACHE_TTL) else { return Ok(DEFAULT_LIST_TTL) };
    parse_time(text.trim()).filter(|time| *time <= LONGEST_TTL).ok_or_else(|| {
        let name = environment::TOOL_CACHE_TTL;
        Failure::usage(format!(
            "{name}: `{text}` is not a time up to 1d, in milliseconds or with a unit (`5s`)"
        ))
    })
}

fn http(args: &ConnectionArgs, environment: &Environment) -> Result<HttpOptions, Failure> {
    let usual = HttpOptions::default();
    let file = |path: &std::path::PathBuf| Pem::File(path.clone());
    let client_certificate = args
        .cert
        .as_ref()
        .zip(args.key.as_ref())
        .map(|(chain, key)| ClientCertificate { chain: file(chain), key: file(key) });
    Ok(HttpOptions {
        extra_headers: headers(&args.headers, environment)?,
        ca_certificates: args.ca_files.iter().map(file).collect(),
        client_certificate,
        connect_timeout: usual.connect_timeout.min(args.connect_timeout()),
        ..usual
    })
}

/// Parses headers. Values may be secrets, so neither errors nor debug output contain them.
fn headers(words: &[String], environment: &Environment) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for word in words {
        let Some((name, value)) = word.split_once(':') else {
            return Err(Failure::usage("a --header is not `Name: value`"));
        };
        let name = name.trim();
        let header: HeaderName = name
            .parse()
            .map_err(|_| Failure::usage(format!("--header `{name}` is not the name of a header")))?;
        let value = expanded(value.trim(), &format!("--header {name}"), environment)?;
        let mut value: HeaderValue = value.parse().map_err(|_| {
            Failure::usage(format!(
                "--header {name}: its value has characters that are not allowed in a header"
            ))
        })?;
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(headers)
}

fn wishes(ask: &AskArgs, args: &ConnectionArgs) -> Result<Wishes, Failure> {
    let answers = Answers::parse(&ask.answers)
        .map_err(|word| Failure::usage(format!("--answer `{word}` is not `FIELD=VALUE`")))?;
    Ok(Wishes {
        answers,
        roots: ask.roots.iter().map(|folder| root(folder)).collect::<Result<_, _>>()?,
        sampling: if ask.sample { Ability::Yes } else { Ability::No },
        log_from: args.log_level,
    })
}

fn root(folder: &Path) -> Result<Root, Failure> {
    let bad = |reason: &str| Failure::usage(format!("--root {}: {reason}", folder.display()));
    let path = folder.canonicalize().map_err(|error| bad(&error.to_string()))?;
    if !path.is_dir() {
        return Err(bad("it is not a directory"));
    }
    let uri = Url::from_file_path(&path).map_err(|()| bad("it cannot be written as a URI"))?;
    let mut root = Root::new(uri);
    root.name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
        anstream::adapter::strip_str(&result.unwrap_err().to_text()).to_string()
    }

    #[test]
    fn headers_are_expanded_and_their_values_never_told() {
        let environment = Environment::of([("TOKEN", "s3cret"), ("ODD", "a\nb")]);
        let read = |word: &str| headers(&[word.to_owned()], &environment);
        assert_eq!(read("Authorization: Bearer {env:TOKEN}").unwrap()["authorization"], "Bearer s3cret");
        assert!(!format!("{:?}", read("X: ${TOKEN}").unwrap()).contains("s3cret"));
        assert_eq!(told(read("s3cret")), "error: a --header is not `Name: value`\n");
        assert!(told(read("X: {env:NOPE}")).contains("--header X refers to the environment variable `NOPE`"));
        assert!(told(read("X: ${ODD}")).contains("characters that are not allowed in a header"));
    }

    #[test]
    fn the_environment_sets_revision_and_cache_time() {
        let environment = |name, value| Environment::of([(name, value)]);
        let revision = environment("MCP_PROTOCOL_VERSION", "2025-06-18");
        assert_eq!(speak(None, &revision).unwrap(), RevisionChoice::Exactly("2025-06-18".parse().unwrap()));
        assert_eq!(speak(Some(EraChoice::Modern), &revision).unwrap(), RevisionChoice::Era(Era::Modern));
        let unknown = told(speak(None, &environment("MCP_PROTOCOL_VERSION", "1")));
        assert!(unknown.contains("MCP_PROTOCOL_VERSION: `1` is not a protocol revision"), "{unknown}");
        let ttl = |value| list_ttl(&environment("MCP_TOOL_CACHE_TTL", value));
        assert_eq!(ttl("500").unwrap(), Duration::from_millis(500));
        assert_eq!(ttl("5s").unwrap(), Duration::from_secs(5));
        assert_eq!(ttl("").unwrap(), DEFAULT_LIST_TTL);
        assert_eq!(
            told(ttl("soon")),
            "error: MCP_TOOL_CACHE_TTL: `soon` is not a time up to 1d, in milliseconds or with a unit (`5s`)\n"
        );
        assert!(ttl("2d").is_err() && ttl("-1").is_err());
    }

    #[test]
    fn roots_are_directories() {
        let folder = tempfile::tempdir().unwrap();
        assert!(root(folder.path()).unwrap().uri.starts_with("file:///"));
        assert!(told(root(Path::new("/nowhere/at-all"))).contains("--root /nowhere/at-all"));
    }
}
