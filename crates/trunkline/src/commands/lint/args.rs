//! What `lint` takes.

use crate::args::{ConnectionArgs, duration};
use clap::ValueEnum;
use std::{path::PathBuf, time::Duration};
use trunkline_lint::{Group, Ignore, Level};

/// Judge servers by rules: what is wrong, what proves it, how to fix it
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    visible_alias = "validate",
    override_usage = "trunkline lint [OPTIONS] <URL|NAME|FILE>...\n       trunkline lint [OPTIONS] -- <COMMAND>...\n       trunkline lint [OPTIONS] --all"
)]
pub(crate) struct Args {
    /// The servers' addresses, or their names in `trunkline.json`; configuration files, ours or another client's; or a
    /// lock file, for the servers that it pins
    #[arg(value_name = "TARGET")]
    pub(super) words: Vec<String>,
    /// The command that starts the server, instead of an address
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Judge every server of the configuration, and its files
    #[arg(long, conflicts_with_all = ["words", "command"])]
    pub(super) all: bool,
    /// With --all: read this configuration instead of the `trunkline.json` found upwards from the current directory
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) config: Option<PathBuf>,
    /// Compare the tools with those that this lock file accepts
    #[arg(long, value_name = "FILE")]
    pub(super) lock: Option<PathBuf>,
    /// Write the tools as they are now into this lock file, to be accepted from now on
    #[arg(long, value_name = "FILE")]
    pub(super) write_lock: Option<PathBuf>,
    /// Judge by this rule only; may be repeated
    #[arg(long = "rule", value_name = "RULE")]
    pub(super) rules: Vec<String>,
    /// Judge by the rules of this group only; may be repeated
    #[arg(long = "group", value_name = "GROUP")]
    pub(super) groups: Vec<Group>,
    /// Leave out rules and findings below this level: info, warning, error, critical
    #[arg(long, value_name = "LEVEL")]
    pub(super) level: Option<Level>,
    /// Exit with 1 when there is a finding of this level or above; `never` for not at all
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = fail_on)]
    pub(super) fail_on: FailOn,
    /// Do not count what this file knows; it is written by --write-baseline
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write everything that is found into this file, to be accepted from now on
    #[arg(long, value_name = "FILE")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Do not count this finding, as `RULE=REASON` or `RULE:SUBJECT=REASON`; may be repeated
    #[arg(long = "ignore", value_name = "IGNORE")]
    pub(super) ignores: Vec<Ignore>,
    /// Tell what a rule is about, why it matters and how to fix what it finds, and judge nothing
    #[arg(long, value_name = "RULE", exclusive = true)]
    pub(super) explain: Option<String>,
    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
    /// Tell of every rule what became of it, not only of those that found something
    #[arg(long)]
    pub(super) all_outcomes: bool,
    /// Ask only what every client asks; send nothing malformed
    #[arg(long, conflicts_with = "active")]
    pub(super) passive: bool,
    /// Call tools, too: those that say they only read
    #[arg(long)]
    pub(super) active: bool,
    /// Call also tools that may change something
    #[arg(long, requires = "active")]
    pub(super) allow_side_effects: bool,
    /// Send generated messages, too: broken frames, and with --active odd arguments for tools
    #[arg(long, conflicts_with = "passive")]
    pub(super) fuzz: bool,
    /// How many messages are generated per kind and era
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub(super) fuzz_cases: usize,
    /// Where the generator begins; the same seed gives the same messages
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(super) seed: u64,
    /// Where a file is written for each failure, which does it again
    #[arg(long, value_name = "DIR", default_value = "lint-fuzz")]
    pub(super) fuzz_dir: PathBuf,
    /// How many tools an active run may call
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(super) max_calls: usize,
    /// How long the probes of one server may take together
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    pub(super) budget: Duration,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs; docs/lint-report.schema.json describes it
    Json,
    /// SARIF 2.1.0, for code scanning services
    Sarif,
    /// XML, a test case per rule
    Junit,
    /// Annotations of GitHub Actions
    Github,
    /// For pull requests and wikis
    Markdown,
}

/// From which level on the run counts as failed.
pub(super) type FailOn = Option<Level>;

fn fail_on(text: &str) -> Result<FailOn, String> {
    if text == "never" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|unknown: trunkline_lint::UnknownLevel| unknown.to_string())
}
