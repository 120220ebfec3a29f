//! Options about the connection, the same for every command that makes one.

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
    /// Give the server's process this variable, as `NAME=VALUE`; may be repeated
    #[arg(long = "env", short = 'e', value_name = "VARIABLE")]
    pub(crate) variables: Vec<String>,
    /// Start the server's process in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// How long a call may go without an answer or progress, such as `30s` or `5m` [default: 1m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// How long connecting may take, a download by npx or uvx included
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    pub(crate) connect_timeout: Duration,
    /// Which era of the protocol to speak: with or without the `initialize` handshake
    #[arg(long, value_name = "ERA")]
    pub(crate) era: Option<EraChoice>,
    /// Trust the certificates in this PEM file, too; may be repeated
    #[arg(long = "cacert", value_name = "FILE")]
    pub(crate) ca_files: Vec<PathBuf>,
    /// Show this certificate to the server (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Send headers with credentials over plain http, too, where others can read them
    #[arg(long)]
    pub(crate) allow_plain_http: bool,
    /// How request ids are made
    #[arg(long, value_name = "KIND", default_value = "uuid")]
    pub(crate) ids: IdChoice,
    /// Print every frame to standard error, with its direction and time
    #[arg(long)]
    pub(crate) trace: bool,
    /// Print the server's log messages from this level on: debug, info, notice, warning, error, critical, alert, emergency
    #[arg(long, value_name = "LEVEL", value_parser = str::parse::<Level>)]
    pub(crate) log_level: Option<Level>,
    /// Neither use nor keep what was found out about servers before
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// What a server that asks will hear.
#[derive(Debug, Args)]
#[command(next_help_heading = "Answers to the server's questions")]
pub(crate) struct AskArgs {
    /// Answer this field of a form, as `FIELD=VALUE`, without asking on the terminal; may be repeated
    #[arg(long = "answer", value_name = "ANSWER")]
    pub(crate) answers: Vec<String>,
    /// Tell the server of this directory as a root; may be repeated
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Show what the server asks of a language model, and let me type the model's answer
    #[arg(long)]
    pub(crate) sample: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EraChoice {
    /// Find it out
    Auto,
    /// Up to 2025-11-25
    Legacy,
    /// From 2026-07-28
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdChoice {
    /// Random and unique everywhere
    Uuid,
    /// 1, 2, 3, …
    Int,
}
