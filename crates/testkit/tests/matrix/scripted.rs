//! A server whose answers come from the test, over Streamable HTTP (`/mcp`) and HTTP+SSE (`/sse`).

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
    routing::{get, post},
};
use futures_util::stream;
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};
use tokio::{net::TcpListener, sync::mpsc};
use trunkline_client::Target;

type Answer = dyn Fn(&Value) -> Option<Value> + Send + Sync;

/// Dropping it stops the server.
pub(crate) struct Scripted {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    answer: Box<Answer>,
    seen: Mutex<Vec<Value>>,
    stream: Mutex<Option<mpsc::UnboundedSender<Value>>>,
}

impl Scripted {
    /// `answer` returns the whole frame that answers a message, or `None` for no answer.
    pub(crate) async fn serve(answer: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static) -> Self {
        let shared =
            Arc::new(Shared { answer: Box::new(answer), seen: Mutex::default(), stream: Mutex::default() });
        let router = Router::new()
            .route("/mcp", post(answer_here))
            .route("/sse", get(open_stream))
            .route("/message", post(answer_there))
            .with_state(shared.clone());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared, task }
    }

    pub(crate) fn target(&self, path: &str) -> Target {
        Target::url(&format!("http://{}/{path}", self.address)).unwrap()
    }

    /// Returns the received messages in order.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.shared.seen.lock().unwrap().clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns a response to a request.
pub(crate) fn result(request: &Value, result: Value) -> Value {
    let mut response = json!({"jsonrpc": "2.0", "id": request["id"]});
    response["result"] = result;
    response
}

/// Default answers of a legacy server for messages that a script does not handle: it answers
/// `initialize` and knows no other method.
pub(crate) fn legacy(revision: &str, message: &Value) -> Option<Value> {
    let unknown =
        || json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}});
    match message["method"].as_str() {
        Some("initialize") => Some(result(
            message,
            json!({
                "protocolVersion": revision,
                "capabilities": {"tools": {"listChanged": true}, "resources": {}, "prompts": {}, "logging": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }),
        )),
        Some("ping") => Some(result(message, json!({}))),
        Some(_) if message.get("id").is_some() => Some(unknown()),
        _ => None,
    }
}

impl Shared {
    fn answer(&self, body: &Bytes) -> Option<Value> {
        let message: Value = serde_json::from_slice(body).unwrap();
        let answer = (self.answer)(&message);
        self.seen.lock().unwrap().push(message);
        answer
    }
}

async fn answer_here(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match shared.answer(&body) {
        Some(answer) => ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

async fn answer_there(State(shared): State<Arc<Shared>>, body: Bytes) -> StatusCode {
    let answer = shared.answer(&body);
    if let (Some(answer), Some(stream)) = (answer, &*shared.stream.lock().unwrap()) {
        stream.send(answer).unwrap();
    }
    StatusCode::ACCEPTED
}

async fn open_stream(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let (sender, receiver) = mpsc::unbounded_channel::<Value>();
    *shared.stream.lock().unwrap() = Some(sender);
    let endpoint = Event::default().event("endpoint").data("/message");
    let first = stream::iter([Ok::<_, Infallible>(endpoint)]);
    let rest = stream::unfold(receiver, |mut receiver| async {
        let frame = receiver.recv().await?;
        Some((Ok(Event::default().event("message").data(frame.to_string())), receiver))
    });
    Sse::new(futures_util::StreamExt::chain(first, rest))
}
