//! Sends signed heads of the audit trail to an OpenTelemetry collector, as log records in the JSON
//! form of OTLP.

use super::TraceSettings;
use crate::failure::Failure;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use trunkline_gateway::audit::{HeadSink, SignedHead};
use trunkline_transport::http::{HttpClient, HttpOptions, Target};

/// Maximum time for one head: the end of the program waits for the last one.
const MAX_TIMEOUT: Duration = Duration::from_secs(3);

/// `INFO2`, which stands for a notice.
const SEVERITY: u8 = 10;

struct Sender {
    client: HttpClient,
    target: Target,
    headers: HeaderMap,
    service: String,
    timeout: Duration,
}

/// Best effort: a head that cannot be sent is logged once, until sending works again.
pub(crate) fn otlp_sink(settings: &TraceSettings) -> Result<HeadSink, Failure> {
    let usage =
        |error: &dyn std::fmt::Display| Failure::usage(format!("signed heads cannot be sent: {error}"));
    let timeout = settings.timeout.min(MAX_TIMEOUT);
    let options = HttpOptions { head_timeout: Some(timeout), ..HttpOptions::default() };
    let mut headers = HeaderMap::try_from(&settings.headers).map_err(|error| usage(&error))?;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sender = Sender {
        client: HttpClient::new(options).map_err(|error| usage(&error))?,
        target: Target::parse(&settings.logs_endpoint()).map_err(|error| usage(&error))?,
        headers,
        service: settings.service_name.clone(),
        timeout,
    };
    let failing = AtomicBool::new(false);
    Ok(Arc::new(move |head| {
        let result = sender.send(head);
        let failed = result.is_err();
        if let Err(error) = result
            && !failing.load(Ordering::Relaxed)
        {
            tracing::warn!(error, "a signed head of the audit trail could not be sent to the collector");
        }
        failing.store(failed, Ordering::Relaxed);
    }))
}

impl Sender {
    /// Runs on the signer's own thread, with a runtime of its own: at the end of the program the
    /// common runtime may be gone.
    fn send(&self, head: &SignedHead) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let body = Bytes::from(self.record(head).to_string());
        let sending = self.client.send(Method::POST, &self.target, self.headers.clone(), body);
        let answer = runtime.block_on(async { tokio::time::timeout(self.timeout, sending).await });
        match answer {
            Ok(Ok(response)) if response.status().is_success() => Ok(()),
            Ok(Ok(response)) => Err(format!("HTTP status {}", response.status())),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("timeout".to_owned()),
        }
    }

    fn record(&self, head: &SignedHead) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
        let text = serde_json::to_string(head).unwrap_or_default();
        json!({"resourceLogs": [{
            "resource": {"attributes": [
                {"key": "service.name", "value": {"stringValue": self.service}},
                {"key": "service.version", "value": {"stringValue": env!("CARGO_PKG_VERSION")}},
            ]},
            "scopeLogs": [{
                "scope": {"name": "trunkline"},
                "logRecords": [{
                    "timeUnixNano": now,
                    "observedTimeUnixNano": now,
                    "severityNumber": SEVERITY,
                    "severityText": "NOTICE",
                    "body": {"stringValue": text},
                    "attributes": [
                        {"key": "event.name", "value": {"stringValue": "trunkline.audit.head"}},
                    ],
                }],
            }],
        }]})
    }
}
