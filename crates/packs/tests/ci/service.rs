//! A hosted service with scripted answers.

use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Value;
use trunkline_packs::ci::{Fetch, FetchError, FetchRequest, FetchResponse};
use trunkline_process::HeadTail;

/// Answers by address. If an address has several answers, they are returned in order, and the last
/// one repeats.
#[derive(Debug)]
pub(crate) struct Service {
    answers: Mutex<Vec<(String, Answer)>>,
    seen: Mutex<Vec<FetchRequest>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(value: &Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: value.to_string().into_bytes() }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self { status: 200, headers: Vec::new(), body: text.as_bytes().to_vec() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Service {
    pub(crate) fn new(answers: Vec<(&str, Answer)>) -> Arc<Self> {
        let answers = answers.into_iter().map(|(url, answer)| (url.to_owned(), answer)).collect();
        Arc::new(Self { answers: Mutex::new(answers), seen: Mutex::default() })
    }

    /// The received requests, in order.
    pub(crate) fn seen(&self) -> Vec<FetchRequest> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

impl Fetch for Service {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        self.seen.lock().expect("not poisoned").push(request.clone());
        let mut answers = self.answers.lock().expect("not poisoned");
        let matching: Vec<usize> = answers
            .iter()
            .enumerate()
            .filter(|(_, (url, _))| *url == request.url)
            .map(|(at, _)| at)
            .collect();
        let answer = match matching.as_slice() {
            [] => Err(FetchError(format!("nothing is scripted for {}", request.url))),
            [only] => Ok(answers[*only].1.clone()),
            [first, ..] => Ok(answers.remove(*first).1),
        };
        let response = answer.map(|answer| {
            let mut body = HeadTail::new(request.keep);
            body.push(&answer.body);
            FetchResponse { status: answer.status, headers: answer.headers, body: body.captured() }
        });
        std::future::ready(response).boxed()
    }
}
