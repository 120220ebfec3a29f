//! The options of the access log.

use super::access_log::{Destination, Form};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use trunkline_config::AccessLog;

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits and records")]
pub(crate) struct TelemetryArgs {
    /// Write an access log to this file (`-` for standard error); SIGHUP reopens the file
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Format of the access log
    #[arg(long, value_name = "FORM", default_value = "json")]
    pub(crate) access_log_format: FormChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FormChoice {
    /// One JSON object per line
    #[default]
    Json,
    /// `name=value` pairs
    Text,
}

impl TelemetryArgs {
    pub(super) fn access_log(&self, settings: &AccessLog) -> Option<(Destination, Form)> {
        let form = match self.access_log_format {
            FormChoice::Json => Form::Json,
            FormChoice::Text => Form::Text,
        };
        Some((self.destination(settings)?, form))
    }

    /// The directory of the log file, which must stay writable under the kernel's restrictions.
    pub(crate) fn directory(&self, settings: &AccessLog) -> Option<PathBuf> {
        let Some(Destination::File(path)) = self.destination(settings) else { return None };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(parent.unwrap_or(Path::new(".")).to_owned())
    }

    /// The option overrides the configuration.
    fn destination(&self, settings: &AccessLog) -> Option<Destination> {
        let given = self.access_log.as_deref();
        let configured = || settings.enabled.then_some(settings.file.as_deref());
        match given.map(Some).or_else(configured)? {
            Some(path) if path != Path::new("-") => Some(Destination::File(path.to_owned())),
            _ => Some(Destination::StandardError),
        }
    }
}
