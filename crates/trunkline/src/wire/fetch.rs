//! Lets the CI pack reach hosted services with our HTTP client. Redirects to another origin are
//! returned to the pack.

use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Response};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;
use std::fmt::Display;
use trunkline_packs::ci::{Fetch, FetchError, FetchMethod, FetchRequest, FetchResponse};
use trunkline_process::HeadTail;
use trunkline_transport::http::{Arriving, HttpClient, HttpError, RedirectError, Target};

/// Status of a redirect to another origin; the caller decides whether to follow it.
const ELSEWHERE: u16 = 302;

#[derive(Debug)]
pub(super) struct ServiceFetch(pub(super) HttpClient);

impl Fetch for ServiceFetch {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let client = self.0.clone();
        let deadline = request.deadline;
        Box::pin(async move {
            let answer = tokio::time::timeout(deadline, fetch(client, request)).await;
            answer.unwrap_or_else(|_| Err(failed(&format!("no answer within {} s", deadline.as_secs()))))
        })
    }
}

async fn fetch(client: HttpClient, request: FetchRequest) -> Result<FetchResponse, FetchError> {
    let target = Target::parse(&request.url).map_err(|error| failed(&error))?;
    let method = match request.method {
        FetchMethod::Get => Method::GET,
        FetchMethod::Post => Method::POST,
    };
    let headers = headers(&request.headers)?;
    match client.send(method, &target, headers, Bytes::new()).await {
        Ok(response) => read(response, &request).await,
        Err(HttpError::Redirect(RedirectError::OtherOrigin { target })) => Ok(FetchResponse {
            status: ELSEWHERE,
            headers: vec![("location".to_owned(), target)],
            body: HeadTail::new(request.keep).captured(),
        }),
        Err(error) => Err(failed(&error)),
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, FetchError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let name = HeaderName::try_from(name.as_str()).map_err(|error| failed(&error))?;
        headers.append(name, HeaderValue::from_str(value).map_err(|error| failed(&error))?);
    }
    Ok(headers)
}

async fn read(response: Response<Arriving>, request: &FetchRequest) -> Result<FetchResponse, FetchError> {
    let (head, mut body) = response.into_parts();
    let mut kept = HeadTail::new(request.keep);
    let mut seen = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failed(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        kept.push(data);
        seen += data.len() as u64;
        if seen >= request.read_limit {
            break;
        }
    }
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    Ok(FetchResponse { status: head.status.as_u16(), headers, body: kept.captured() })
}

fn failed(why: &dyn Display) -> FetchError {
    FetchError(why.to_string())
}
