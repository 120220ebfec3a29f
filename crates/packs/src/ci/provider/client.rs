//! HTTP requests to a hosted service: token, redirects, pages, and error texts for its statuses.

use std::{sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{
    fetch::{Fetch, FetchMethod, FetchRequest, FetchResponse},
    options::{ProviderKind, Token},
    project_name::{is_private, origin},
};
use crate::ci::{
    log_text::{plain, tail},
    redact::redact_known,
};
use trunkline_process::Keep;
use trunkline_toolbox::ToolError;

/// Timeout of one request.
const DEADLINE: Duration = Duration::from_secs(20);

/// Maximum size of a JSON response; one page of jobs with their steps is much smaller.
const JSON_LIMIT: usize = 8 * 1024 * 1024;

/// Maximum number of bytes read from a log to get its end.
const LOG_LIMIT: u64 = 256 * 1024 * 1024;

/// Maximum number of pages read from one list.
const MOST_PAGES: usize = 50;

/// Maximum number of redirects to a log.
const REDIRECTS: usize = 3;

/// A client of one hosted service.
#[derive(Debug, Clone)]
pub(in super::super) struct Client {
    pub(super) kind: ProviderKind,
    /// Base address without a trailing slash.
    pub(super) api: String,
    pub(super) token: Token,
    pub(super) fetch: Arc<dyn Fetch>,
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct JobLog {
    pub(in super::super) text: String,
    /// Size of the whole log in bytes.
    pub(in super::super) size: u64,
    pub(in super::super) truncated: bool,
}

/// A page of a list, and the address of the next one.
pub(super) struct Paged<T> {
    pub(super) items: T,
    pub(super) next: Option<String>,
}

impl Client {
    /// The full URL of a path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.api)
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<Paged<T>, ToolError> {
        let response = self.send(FetchMethod::Get, url, Keep::head(JSON_LIMIT)).await?;
        self.check(&response)?;
        if response.body.is_truncated() {
            return Err(ToolError::new(format!("the response of {} is too large", self.kind.name()))
                .hint("Ask for less."));
        }
        let items = serde_json::from_slice(&response.body.head).map_err(|error| {
            ToolError::new(format!("the answer of {} cannot be read", self.kind.name()))
                .hint("Ask the operator to check the configured address.")
                .detail(error.to_string())
        })?;
        Ok(Paged { items, next: self.next_page(url, &response)? })
    }

    /// Reads all pages from `url` on; `items` extracts the items of a page. The flag is true if
    /// there are more than `limit` items.
    pub(super) async fn list<P: DeserializeOwned, T>(
        &self,
        url: String,
        items: impl Fn(P) -> Vec<T>,
        limit: usize,
    ) -> Result<(Vec<T>, bool), ToolError> {
        let mut all = Vec::new();
        let mut next = Some(url);
        for _ in 0..MOST_PAGES {
            let Some(url) = next.take_if(|_| all.len() < limit) else { break };
            let page = self.get(&url).await?;
            all.extend(items(page.items));
            next = page.next;
        }
        let more = all.len() > limit || next.is_some();
        all.truncate(limit);
        Ok((all, more))
    }

    pub(super) async fn post(&self, url: &str) -> Result<(), ToolError> {
        let response = self.send(FetchMethod::Post, url, Keep::head(64 * 1024)).await?;
        self.check(&response)
    }

    /// The end of a log. The service may redirect to another host, which does not get the token.
    pub(super) async fn log(&self, url: &str, lines: usize, bytes: usize) -> Result<JobLog, ToolError> {
        // Keeps twice the shown size, because control characters are removed first.
        let keep = Keep::ends(0, bytes.saturating_mul(2).max(4096));
        let mut url = url.to_owned();
        for _ in 0..=REDIRECTS {
            let response = self.send(FetchMethod::Get, &url, keep).await?;
            if let (301 | 302 | 303 | 307 | 308, Some(location)) =
                (response.status, response.header("location"))
            {
                url = self.absolute(location)?;
                continue;
            }
            self.check(&response)?;
            let text =
                redact_known(&plain(&String::from_utf8_lossy(&response.body.tail)), self.token.reveal());
            let end = tail(&text, lines, bytes);
            let truncated = end.truncated || response.body.is_truncated();
            return Ok(JobLog { text: end.text, size: response.body.total, truncated });
        }
        Err(ToolError::new("the log is redirected too often").hint("Open it in a browser."))
    }

    fn absolute(&self, location: &str) -> Result<String, ToolError> {
        let url = match origin(&self.api) {
            Some(origin) if location.starts_with('/') && !location.starts_with("//") => {
                format!("{origin}{location}")
            }
            _ => location.to_owned(),
        };
        if is_private(&url) && (url.starts_with("https://") || origin(&url) == origin(&self.api)) {
            return Ok(url);
        }
        Err(ToolError::new("the log is redirected to an address that is not safe (no https)")
            .hint("Open it in a browser."))
    }

    async fn send(&self, method: FetchMethod, url: &str, keep: Keep) -> Result<FetchResponse, ToolError> {
        let mut headers = vec![
            ("accept".to_owned(), "application/json".to_owned()),
            ("user-agent".to_owned(), concat!("trunkline/", env!("CARGO_PKG_VERSION")).to_owned()),
        ];
        if origin(url).is_some() && origin(url) == origin(&self.api) {
            headers.push(("authorization".to_owned(), format!("Bearer {}", self.token.reveal())));
        }
        if self.kind == ProviderKind::GitHub {
            headers.push(("x-github-api-version".to_owned(), "2022-11-28".to_owned()));
        }
        let request = FetchRequest {
            method,
            url: url.to_owned(),
            headers,
            keep,
            read_limit: LOG_LIMIT,
            deadline: DEADLINE,
        };
        let answered = tokio::time::timeout(DEADLINE, self.fetch.fetch(request)).await;
        let failed = |detail: String| {
            ToolError::new(format!("{} cannot be reached", self.kind.name()))
                .hint("Try again in a while; if it stays so, ask the operator to check network and configuration.")
                .detail(redact_known(&detail, self.token.reveal()))
        };
        answered.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
    }

    fn check(&self, response: &FetchResponse) -> Result<(), ToolError> {
        let name = self.kind.name();
        let error = match response.status {
            200..=299 => return Ok(()),
            401 => ToolError::new(format!("{name} does not accept the configured token")).hint("Ask the operator for a valid one."),
            403 | 429 if limited(response) => ToolError::new(format!("the rate limit of {name} is exceeded"))
                .hint(format!("Wait {} and try again.", response.header("retry-after").map_or("a few minutes".to_owned(), |seconds| format!("{seconds} s")))),
            403 => ToolError::new(format!("{name} does not allow this with the configured token"))
                .hint("Ask the operator for a token with the right to read, or for a rerun to write, actions or pipelines."),
            404 | 410 => ToolError::not_found(format!("{name} has no such project, run or log, or the token may not see it"))
                .hint("Check the project's name and the runId with list_runs; logs are deleted after a while."),
            status => ToolError::new(format!("{name} answered with status {status}")).hint("Try again in a while."),
        };
        let said = redact_known(&response.body.text(), self.token.reveal());
        Err(error.detail(crate::ci::log_text::cut(&said, 2000).to_owned()))
    }

    /// The next page: from the `Link` header, or from GitLab's `x-next-page`. A link to another
    /// host is refused, because the request would carry the token.
    fn next_page(&self, url: &str, response: &FetchResponse) -> Result<Option<String>, ToolError> {
        let Some(links) = response.header("link") else { return Ok(numbered_page(url, response)) };
        let next = links.split(',').find_map(|link| {
            let (address, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
            rest.split(';').any(|part| part.trim() == "rel=\"next\"").then(|| address.to_owned())
        });
        match next {
            Some(next) if origin(&next) != origin(&self.api) => {
                Err(ToolError::new(format!("{} names another host for the next page", self.kind.name()))
                    .hint("Ask the operator to check the configured address."))
            }
            next => Ok(next),
        }
    }
}

fn limited(response: &FetchResponse) -> bool {
    response.status == 429
        || response.header("retry-after").is_some()
        || response.header("x-ratelimit-remaining") == Some("0")
}

fn numbered_page(url: &str, response: &FetchResponse) -> Option<String> {
    let page: u64 = response.header("x-next-page")?.parse().ok()?;
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let kept: Vec<_> =
        query.split('&').filter(|part| !part.is_empty() && !part.starts_with("page=")).collect();
    Some(format!("{path}?{}&page={page}", kept.join("&")))
}
