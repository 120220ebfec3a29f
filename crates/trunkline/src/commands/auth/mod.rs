//! `auth`: signs in to servers that require OAuth.

mod bench;
mod login;
mod logout;
pub(super) mod page;
mod status;

use super::{Context, Ending};
use crate::{args::TargetWords, environment::Environment, failure::Failure, wire::account};
use clap::Subcommand;
use std::path::PathBuf;
use trunkline_client::Target;
use trunkline_oauth::{AccountOptions, OAuthError};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::http::{HttpOptions, Pem};

/// Sign in to servers that require OAuth
///
/// A login is kept in a file that only you can read, below `~/.local/share/trunkline/logins`,
/// sealed with a key of the system's keychain, if there is one. All commands and the gateway use
/// it, and renew its token before it expires.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Login(login::Args),
    Status(status::Args),
    Logout(logout::Args),
    Bench(bench::Args),
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Command::Login(args) => login::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Logout(args) => logout::run(context, args),
        Command::Bench(args) => bench::run(context, args),
    }
}

/// The server to sign in to.
#[derive(Debug, clap::Args)]
struct ServerArgs {
    /// The server's name in the configuration, or its address
    server: String,
    /// Also trust the certificates in this PEM file, of CAs or of the server itself; may be
    /// repeated
    #[arg(long = "cacert", value_name = "FILE")]
    ca_files: Vec<PathBuf>,
    /// Allow sending tokens over plain http, where others can read them
    #[arg(long)]
    allow_plain_http: bool,
}

impl ServerArgs {
    fn account(&self, environment: &Environment) -> Result<AccountOptions, Failure> {
        let words = [self.server.clone()];
        let split = TargetWords { words: &words, command: &[] }.split(environment)?;
        let Target::Url(url) = &split.target else {
            let text = format!("`{}` is a command; only servers with an address have a login", self.server);
            return Err(
                Failure::usage(text).hint("a command gets its credentials by `--env` or `environment`")
            );
        };
        let configured = match split.configured {
            Some(named) if named.account.is_none() => {
                let text = format!("`{}` needs no login", self.server);
                return Err(Failure::usage(text).hint(
                    "`oauth` is false, or `headers` has an Authorization header, or the address is plain http",
                ));
            }
            Some(named) => named.account,
            None => account::of_url(url, self.allow_plain_http, environment),
        };
        let mut options = configured.ok_or_else(|| {
            Failure::usage("tokens do not go over plain http, where others can read them")
                .hint("use https, or accept the risk with --allow-plain-http")
        })?;
        options.http = HttpOptions {
            ca_certificates: self.ca_files.iter().cloned().map(Pem::File).collect(),
            ..HttpOptions::default()
        };
        Ok(options)
    }
}

/// The failure of a login.
fn failed(error: &OAuthError) -> Failure {
    let kind = match error {
        OAuthError::Fetch { .. } | OAuthError::Slow { .. } => FaultKind::CannotConnect,
        _ => FaultKind::Unauthorized,
    };
    let mut chain = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        chain.push(cause.to_string());
        source = cause.source();
    }
    chain.dedup();
    let fault = Fault::new(kind, error.to_string());
    let fault = match chain.last() {
        Some(last) if !error.to_string().contains(last.as_str()) => fault.with_detail(last.clone()),
        _ => fault,
    };
    match kind {
        FaultKind::CannotConnect => Failure::connecting(fault),
        _ => Failure::from(fault).advise(advice(error)),
    }
}

fn advice(error: &OAuthError) -> &'static str {
    match error {
        OAuthError::NoClient { .. } => {
            "Register a client there, and write its id to `oauth.clientId` of the server"
        }
        OAuthError::Registration { .. } => {
            "Register a client by hand, and write its id to `oauth.clientId` of the server"
        }
        OAuthError::NoPkce { .. } => "Ask the operator of the authorization server to support PKCE (S256)",
        OAuthError::Denied { .. } => "Repeat the login and consent, or ask for fewer scopes",
        OAuthError::Unfinished { .. } => "Repeat the login; --timeout gives more time",
        OAuthError::OtherResource { .. } => "Use the address that the metadata names, if you trust it",
        OAuthError::Token { .. } => "Repeat the login; `trunkline doctor` explains the error",
        OAuthError::Store(_) => "Correct the file's owner and mode, or remove it",
        _ => "`trunkline doctor` examines the login step by step",
    }
}
