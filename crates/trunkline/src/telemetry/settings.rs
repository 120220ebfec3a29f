//! Settings of the trace export, from the standard OpenTelemetry variables or the configuration.

use crate::{
    environment::{self, Environment},
    failure::Failure,
};
use std::{collections::HashMap, time::Duration};
use trunkline_config::Telemetry;
use trunkline_transport::http::Target;

/// Path of the traces endpoint below a common OTLP endpoint.
const TRACES: &str = "/v1/traces";
/// The same for log records.
const LOGS: &str = "/v1/logs";

/// Destination and sampling of traces.
#[derive(Clone, PartialEq)]
pub(crate) struct TraceSettings {
    pub(crate) endpoint: String,
    /// The values may be secrets.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) service_name: String,
    pub(crate) ratio: f64,
    /// Time limit for one batch, including retries.
    pub(crate) timeout: Duration,
}

impl TraceSettings {
    /// Returns `None` if no endpoint is configured; tracing is then off.
    pub(crate) fn read(environment: &Environment, settings: &Telemetry) -> Result<Option<Self>, Failure> {
        let named = environment.get_filled(environment::OTLP_ENDPOINT).or(settings.endpoint.as_deref());
        let Some(base) = named else { return Ok(None) };
        let bad = |name: &str, why: &dyn std::fmt::Display| Failure::usage(format!("{name}: {why}"));
        let endpoint = format!("{}{TRACES}", base.trim_end_matches('/'));
        Target::parse(&endpoint).map_err(|error| bad(environment::OTLP_ENDPOINT, &error))?;
        let mut all: HashMap<String, String> =
            settings.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
        let headers = environment.get_filled(environment::OTLP_HEADERS).unwrap_or_default();
        let headers = headers.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(header);
        let headers: Option<HashMap<_, _>> = headers.collect();
        let headers =
            headers.ok_or_else(|| bad(environment::OTLP_HEADERS, &"it is not `name=value,name=value`"))?;
        all.extend(headers);
        let service_name = environment.get_filled(environment::SERVICE_NAME);
        let service_name = service_name.unwrap_or(&settings.service_name).to_owned();
        let ratio = match environment.get_filled(environment::SAMPLER_ARG) {
            None => settings.sample,
            Some(text) => {
                let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
                ratio.ok_or_else(|| {
                    bad(environment::SAMPLER_ARG, &format!("`{text}` is not between 0 and 1"))
                })?
            }
        };
        Ok(Some(Self { endpoint, headers: all, service_name, ratio, timeout: settings.timeout }))
    }

    /// The address for log records.
    pub(crate) fn logs_endpoint(&self) -> String {
        format!("{}{LOGS}", self.endpoint.strip_suffix(TRACES).unwrap_or(&self.endpoint))
    }
}

/// Parses a `name=value` pair whose value is percent-encoded, as the specification says.
fn header(pair: &str) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=')?;
    let name = http::HeaderName::try_from(name.trim()).ok()?;
    let value = decoded(value.trim())?;
    http::HeaderValue::from_str(&value).ok()?;
    Some((name.to_string(), value))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}

impl std::fmt::Debug for TraceSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut names: Vec<_> = self.headers.keys().collect();
        names.sort();
        f.debug_struct("TraceSettings")
            .field("endpoint", &self.endpoint)
            .field("headers", &names)
            .field("service_name", &self.service_name)
            .field("ratio", &self.ratio)
            .field("timeout", &self.timeout)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn nothing() -> Telemetry {
        let timeout = Duration::from_secs(10);
        let service_name = "trunkline".to_owned();
        Telemetry { endpoint: None, headers: BTreeMap::new(), service_name, sample: 1.0, timeout }
    }

    #[test]
    fn the_variables_of_opentelemetry_are_read() {
        assert_eq!(TraceSettings::read(&Environment::default(), &nothing()).unwrap(), None);
        let given = Environment::of([
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret, x-team = a "),
            ("OTEL_SERVICE_NAME", "front"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ]);
        let configured = Telemetry { endpoint: Some("http://other".into()), sample: 0.5, ..nothing() };
        let alone = TraceSettings::read(&Environment::default(), &configured).unwrap().unwrap();
        assert_eq!((alone.endpoint.as_str(), alone.ratio), ("http://other/v1/traces", 0.5));
        let read = TraceSettings::read(&given, &configured).unwrap().unwrap();
        assert_eq!(read.endpoint, "http://127.0.0.1:4318/v1/traces");
        assert_eq!(
            (read.headers["authorization"].as_str(), read.headers["x-team"].as_str()),
            ("Bearer s3cret", "a")
        );
        assert_eq!((read.service_name.as_str(), read.ratio), ("front", 0.25));
        assert!(!format!("{read:?}").contains("s3cret"));
    }

    #[test]
    fn nonsense_is_refused_without_showing_what_may_be_a_secret() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%"),
            ("OTEL_TRACES_SAMPLER_ARG", "2"),
            ("OTEL_TRACES_SAMPLER_ARG", "nan"),
        ] {
            let first = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h");
            let given = if name == first.0 {
                Environment::of([(name, value)])
            } else {
                Environment::of([first, (name, value)])
            };
            let failure = TraceSettings::read(&given, &nothing()).unwrap_err();
            assert!(
                failure.to_text().contains(name) && !failure.to_text().contains("s3cret"),
                "{name}={value}"
            );
            assert_eq!(failure.exit_code(), 2);
        }
    }
}
