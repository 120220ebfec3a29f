//! Turns settings into the signer of the audit trail's head.

use crate::{
    environment::Environment,
    failure::Failure,
    telemetry::{SyslogTarget, TraceSettings, otlp_sink},
};
use std::{path::Path, sync::Arc};
use trunkline_config::{Settings, read_regular_text};
use trunkline_gateway::audit::{HeadSink, Signing, SigningKey};

/// Maximum size of the key file.
const MAX_KEY_FILE: u64 = 16 * 1024;

/// `None` if no key is configured.
pub(super) fn signing(settings: &Settings, environment: &Environment) -> Result<Option<Signing>, Failure> {
    let chosen = &settings.audit.signing;
    let Some(path) = &chosen.key else {
        let has_target = chosen.syslog.is_some() || chosen.otlp;
        return if has_target {
            Err(Failure::usage("audit.signing sends signed heads, but audit.signing.key is not set")
                .hint("make a key with `trunkline audit keygen FILE`"))
        } else {
            Ok(None)
        };
    };
    let key = read_key(path).map_err(|why| {
        Failure::usage(format!("audit.signing.key: {why}"))
            .hint("make a key with `trunkline audit keygen FILE`")
    })?;
    let sinks = sinks(settings, environment)?;
    Ok(Some(Signing { key: Arc::new(key), interval: chosen.interval, records: chosen.records, sinks }))
}

/// Reads a private key; the error names the file.
pub(crate) fn read_key(path: &Path) -> Result<SigningKey, String> {
    let unusable = |why: &dyn std::fmt::Display| format!("{} cannot be used: {why}", path.display());
    let text = read_regular_text(path, MAX_KEY_FILE).map_err(|error| unusable(&error))?;
    SigningKey::read(&text).map_err(|error| unusable(&error))
}

fn sinks(settings: &Settings, environment: &Environment) -> Result<Vec<HeadSink>, Failure> {
    let chosen = &settings.audit.signing;
    let mut sinks = Vec::new();
    if let Some(text) = &chosen.syslog {
        let target = SyslogTarget::read(text).ok_or_else(|| {
            Failure::usage(format!(
                "audit.signing.syslog: expected `/dev/log` or `host:port`, found `{text}`"
            ))
        })?;
        sinks.push(target.sink());
    }
    if chosen.otlp {
        let traces = TraceSettings::read(environment, &settings.telemetry)?.ok_or_else(|| {
            Failure::usage("audit.signing.otlp needs a collector").hint("set telemetry.endpoint")
        })?;
        sinks.push(otlp_sink(&traces)?);
    }
    Ok(sinks)
}
