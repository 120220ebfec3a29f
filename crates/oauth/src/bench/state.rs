//! State of the bench: its switches, codes, tokens, and the log of requests.

use super::Failure;
use crate::random;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tokio::{sync::Notify, time::Instant};

/// Lines that the log keeps; the bench is for short runs.
const MAX_LOG: usize = 100_000;

/// The settings of a bench.
#[derive(Debug, Clone, Default)]
pub struct BenchOptions {
    /// Port of the MCP server; a free one if `None`.
    pub port: Option<u16>,
    pub failures: BTreeSet<Failure>,
    /// Lifetime of access tokens in seconds; an hour if `None`.
    pub lifetime: Option<u64>,
}

/// One request to the bench. It holds no token and no code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    pub server: &'static str,
    pub method: String,
    pub path: String,
    /// The grant of a token request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The user of the token that a request to the MCP server had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The arguments of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub status: u16,
}

/// A code or a token.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) user: String,
    pub(super) scope: String,
    pub(super) client: String,
    /// The PKCE challenge of a code.
    pub(super) challenge: String,
    pub(super) redirect_uri: String,
    pub(super) resource: String,
    pub(super) expires: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct State {
    options: BenchOptions,
    resource_origin: String,
    issuer: String,
    inner: Mutex<Inner>,
    logged: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    failures: BTreeSet<Failure>,
    codes: BTreeMap<String, Grant>,
    access: BTreeMap<String, Grant>,
    refresh: BTreeMap<String, Grant>,
    log: Vec<LogLine>,
}

impl State {
    pub(super) fn new(options: BenchOptions, resource_origin: String, issuer: String) -> Self {
        let inner = Inner { failures: options.failures.clone(), ..Inner::default() };
        Self { options, resource_origin, issuer, inner: Mutex::new(inner), logged: Notify::new() }
    }

    pub(super) fn resource(&self) -> String {
        format!("{}/mcp", self.resource_origin)
    }

    pub(super) fn resource_origin(&self) -> &str {
        &self.resource_origin
    }

    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    pub(super) fn lifetime(&self) -> u64 {
        self.options.lifetime.unwrap_or(3600)
    }

    pub(super) fn has(&self, failure: Failure) -> bool {
        self.inner.lock().failures.contains(&failure)
    }

    pub(super) fn set(&self, failure: Failure, on: bool) {
        let mut inner = self.inner.lock();
        if on {
            inner.failures.insert(failure);
        } else {
            inner.failures.remove(&failure);
        }
    }

    pub(super) fn issue_code(&self, grant: Grant) -> String {
        issue(&mut self.inner.lock().codes, grant)
    }

    /// A code can be used once.
    pub(super) fn take_code(&self, code: &str) -> Option<Grant> {
        self.inner.lock().codes.remove(code)
    }

    pub(super) fn issue_access(&self, grant: Grant) -> String {
        issue(&mut self.inner.lock().access, grant)
    }

    pub(super) fn issue_refresh(&self, grant: Grant) -> String {
        issue(&mut self.inner.lock().refresh, grant)
    }

    pub(super) fn refresh(&self, token: &str) -> Option<Grant> {
        self.inner.lock().refresh.get(token).cloned()
    }

    /// A rotated refresh token is worthless.
    pub(super) fn take_refresh(&self, token: &str) -> Option<Grant> {
        self.inner.lock().refresh.remove(token)
    }

    pub(super) fn access(&self, token: &str) -> Option<Grant> {
        let found = self.inner.lock().access.get(token).cloned()?;
        let is_valid = found.expires.is_none_or(|end| end > Instant::now());
        is_valid.then_some(found)
    }

    pub(super) fn revoke(&self, token: &str) {
        let mut inner = self.inner.lock();
        inner.access.remove(token);
        inner.refresh.remove(token);
    }

    pub(super) fn expire_tokens(&self) {
        let now = Instant::now();
        self.inner.lock().access.values_mut().for_each(|grant| grant.expires = Some(now));
    }

    pub(super) fn note(&self, line: LogLine) {
        let mut inner = self.inner.lock();
        if inner.log.len() < MAX_LOG {
            inner.log.push(line);
        }
        drop(inner);
        self.logged.notify_waiters();
    }

    pub(super) fn log(&self) -> Vec<LogLine> {
        self.inner.lock().log.clone()
    }

    pub(super) async fn next(&self, seen: usize) -> LogLine {
        loop {
            let logged = self.logged.notified();
            if let Some(line) = self.inner.lock().log.get(seen) {
                return line.clone();
            }
            logged.await;
        }
    }
}

fn issue(table: &mut BTreeMap<String, Grant>, grant: Grant) -> String {
    // Without random numbers the bench cannot be used, and says so by an invalid token.
    let token = random::token().unwrap_or_default();
    table.insert(token.clone(), grant);
    token
}
