//! The options of `lint`.

use crate::args::{ConnectionArgs, duration};
use clap::ValueEnum;
use std::{path::PathBuf, time::Duration};
use trunkline_lint::{Group, Ignore, Level};

/// Check servers against the rules, and report each finding with its evidence and fix
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    visible_alias = "validate",
    override_usage = "trunkline lint [OPTIONS] <URL|NAME|FILE>...\n       trunkline lint [OPTIONS] [--] <COMMAND>...\n       trunkline lint [OPTIONS] --all"
)]
pub(crate) struct Args {
    /// Server addresses or names from `trunkline.json`; configuration files, `trunkline.json` or
    /// another client's; or a lock file, for the servers that it pins
    #[arg(value_name = "TARGET")]
    pub(super) words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Check every configured server, and the configuration files
    #[arg(long, conflicts_with_all = ["words", "command"])]
    pub(super) all: bool,
    /// With --all: read this configuration file instead of the nearest `trunkline.json` in the
    /// current directory or above it; your own file still counts
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) config: Option<PathBuf>,
    /// Compare the tools with those accepted in this lock file
    #[arg(long, value_name = "FILE")]
    pub(super) lock: Option<PathBuf>,
    /// Write the current tools to this lock file, which accepts them
    #[arg(long, value_name = "FILE")]
    pub(super) write_lock: Option<PathBuf>,
    /// Check only this rule; may be repeated
    #[arg(long = "rule", value_name = "RULE")]
    pub(super) rules: Vec<String>,
    /// Check only the rules of this group; may be repeated
    #[arg(long = "group", value_name = "GROUP")]
    pub(super) groups: Vec<Group>,
    /// Skip rules and findings below this level: info, warning, error, critical
    #[arg(long, value_name = "LEVEL")]
    pub(super) level: Option<Level>,
    /// Exit with status 1 if there is a finding of this level or above; `never` to exit with 0
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = fail_on)]
    pub(super) fail_on: FailOn,
    /// Ignore the findings recorded in this file, which --write-baseline writes
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write all findings to this file, for later use with --baseline
    #[arg(long, value_name = "FILE")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Ignore this finding, as `RULE=REASON` or `RULE:SUBJECT=REASON`; may be repeated
    #[arg(long = "ignore", value_name = "IGNORE")]
    pub(super) ignores: Vec<Ignore>,
    /// Explain a rule (what it checks, why, and how to fix its findings) and exit
    #[arg(long, value_name = "RULE", exclusive = true)]
    pub(super) explain: Option<String>,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
    /// Report the result of every rule, not only of those with findings
    #[arg(long)]
    pub(super) all_outcomes: bool,
    /// Send only ordinary client requests, nothing malformed
    #[arg(long, conflicts_with = "active")]
    pub(super) passive: bool,
    /// Also call tools that are marked read-only
    #[arg(long)]
    pub(super) active: bool,
    /// Also call tools that may change something
    #[arg(long, requires = "active")]
    pub(super) allow_side_effects: bool,
    /// Also send generated messages: malformed frames and, with --active, unusual tool arguments
    #[arg(long, conflicts_with = "passive")]
    pub(super) fuzz: bool,
    /// Number of generated messages per kind and era
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub(super) fuzz_cases: usize,
    /// Seed of the generator; the same seed gives the same messages
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(super) seed: u64,
    /// Directory for files that reproduce each failure found with --fuzz
    #[arg(long, value_name = "DIR", default_value = "lint-fuzz")]
    pub(super) fuzz_dir: PathBuf,
    /// Maximum number of tools that an active run calls
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(super) max_calls: usize,
    /// Time limit for all probes of one server
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    pub(super) budget: Duration,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Plain text
    Text,
    /// JSON, as described by docs/lint-report.schema.json
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// XML as test runners write it, with a test case per rule
    Junit,
    /// GitHub Actions annotations
    Github,
    /// Markdown, for pull requests and wikis
    Markdown,
}

/// Lowest level of a finding that fails the run; `None` never fails.
pub(super) type FailOn = Option<Level>;

fn fail_on(text: &str) -> Result<FailOn, String> {
    if text == "never" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|unknown: trunkline_lint::UnknownLevel| unknown.to_string())
}
