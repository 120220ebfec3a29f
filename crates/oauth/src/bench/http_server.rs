//! A small HTTP server for the bench.

use super::state::State;
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use serde_json::Value;
use std::{collections::BTreeMap, future::poll_fn, io, net::Ipv4Addr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};
use trunkline_http1::server::{Connection, HeadError, KeepAlive, Options, Pending, RequestBody, Service};
use trunkline_transport::body;

const MAX_BODY: usize = 1024 * 1024;
static OPTIONS: Options = Options {
    header_timeout: Duration::from_secs(30),
    idle_timeout: Duration::from_mins(1),
    write_timeout: Duration::from_secs(30),
    max_body: MAX_BODY,
    usual_headers: &[],
};

/// A request with its whole body.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    pub(super) authorization: Option<String>,
    pub(super) body: Bytes,
}

pub(super) type Answer = fn(&State, &Asked) -> Response<Bytes>;

pub(super) struct Listener {
    listener: TcpListener,
    address: String,
}

impl Listener {
    pub(super) async fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let address = format!("http://{}", listener.local_addr()?);
        Ok(Self { listener, address })
    }

    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    pub(super) fn serve(self, state: Arc<State>, answer: Answer) -> AbortHandle {
        let serving = async move {
            // The connections end with this task.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = self.listener.accept().await {
                connections.spawn(connection(stream, BenchService { state: state.clone(), answer }));
                while connections.try_join_next().is_some() {}
            }
        };
        tokio::spawn(serving).abort_handle()
    }
}

async fn connection(stream: TcpStream, service: BenchService) {
    let mut connection = Connection::new(stream, service, KeepAlive::On);
    if let Err(error) = poll_fn(|cx| connection.poll(cx)).await {
        tracing::debug!(%error, "a connection to the bench broke");
    }
}

struct BenchService {
    state: Arc<State>,
    answer: Answer,
}

impl Service for BenchService {
    type Body = Bytes;

    fn options(&self) -> &Options {
        &OPTIONS
    }

    fn call(&mut self, request: Request<RequestBody>) -> Pending<Bytes> {
        let (head, body) = request.into_parts();
        let (state, answer) = (self.state.clone(), self.answer);
        Pending::preparing(async move {
            let Ok(body) = body::read(body, MAX_BODY).await else {
                return Pending::ready(text(StatusCode::PAYLOAD_TOO_LARGE, "text/plain", "too large"));
            };
            let query = head.uri.query().unwrap_or_default();
            let authorization = head.headers.get(header::AUTHORIZATION);
            let asked = Asked {
                method: head.method.to_string(),
                path: head.uri.path().to_owned(),
                query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
                authorization: authorization
                    .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
                body,
            };
            Pending::ready(answer(&state, &asked))
        })
    }

    fn reject(&mut self, error: HeadError) -> Response<Bytes> {
        text(error.status(), "text/plain", &error.to_string())
    }
}

impl Asked {
    /// The fields of a form.
    pub(super) fn form(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

pub(super) fn json(status: StatusCode, value: &Value) -> Response<Bytes> {
    text(status, "application/json", &value.to_string())
}

pub(super) fn text(status: StatusCode, kind: &'static str, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response
}

/// Adds a header whose value is made by the bench itself.
pub(super) fn with_header(
    mut response: Response<Bytes>,
    name: http::HeaderName,
    value: &str,
) -> Response<Bytes> {
    if let Ok(value) = http::HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
