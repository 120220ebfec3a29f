//! Connection options, shared by all commands that connect to a server.

use super::duration;
use clap::{Args, ValueEnum};
use std::{path::PathBuf, time::Duration};
use trunkline_protocol::message::Level;

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// Send this HTTP header with every request, as `Name: value`; may be repeated
    #[arg(long = "header", short = 'H', value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// Set this environment variable for the server process, as `NAME=VALUE`; may be repeated
    #[arg(long = "env", short = 'e', value_name = "VARIABLE")]
    pub(crate) variables: Vec<String>,
    /// Start the server process in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Timeout for a call without a response or progress, such as `30s` or `5m` [default: 1m, or
    /// that of the configured server]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Timeout for connecting, including a package download by npx or uvx [default: 60s, or that of
    /// the configured server]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) connect_timeout: Option<Duration>,
    /// Protocol era to speak: with (legacy) or without (modern) the `initialize` handshake
    #[arg(long, value_name = "ERA")]
    pub(crate) era: Option<EraChoice>,
    /// Also trust the certificates in this PEM file, of CAs or of the server itself; may be
    /// repeated
    #[arg(long = "cacert", value_name = "FILE")]
    pub(crate) ca_files: Vec<PathBuf>,
    /// Client certificate for mutual TLS (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Allow sending credentials over plain http, where others can read them
    #[arg(long)]
    pub(crate) allow_plain_http: bool,
    /// Kind of request ids to generate
    #[arg(long, value_name = "KIND", default_value = "uuid")]
    pub(crate) ids: IdChoice,
    /// Print every frame to standard error, with its direction and time
    #[arg(long)]
    pub(crate) trace: bool,
    /// Print the server's log messages of this level and above: debug, info, notice, warning,
    /// error, critical, alert, emergency
    #[arg(long, value_name = "LEVEL", value_parser = str::parse::<Level>)]
    pub(crate) log_level: Option<Level>,
    /// Do not use the cache of known servers, such as their transport and protocol era
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

impl ConnectionArgs {
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.connect_timeout.unwrap_or(Duration::from_mins(1))
    }
}

/// Answers to questions that the server asks during a call.
#[derive(Debug, Args)]
#[command(next_help_heading = "Answers to the server's questions")]
pub(crate) struct AskArgs {
    /// Fill in this form field (elicitation) without prompting, as `FIELD=VALUE`; may be repeated
    #[arg(long = "answer", value_name = "ANSWER")]
    pub(crate) answers: Vec<String>,
    /// Offer this directory to the server as a root; may be repeated
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Show the server's sampling requests, and ask at the terminal for the model's answer
    #[arg(long)]
    pub(crate) sample: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EraChoice {
    /// Detect automatically (`serve`: accept both)
    Auto,
    /// Up to 2025-11-25
    Legacy,
    /// From 2026-07-28
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdChoice {
    /// Random UUIDs
    Uuid,
    /// 1, 2, 3, …
    Int,
}
