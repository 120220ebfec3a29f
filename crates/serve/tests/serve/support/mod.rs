//! A small handler with one of everything, and a server in front of it.

pub(crate) mod wire;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Notification, Outcome, Part, Question, Raw, Reply, method,
};
use trunkline_serve::{Guard, Limits, ServeOptions, Server, Shutdown};

/// The change that ends subscriptions, because others need their place.
pub(crate) const GIVE_UP: &str = "give up";

/// Answers a few methods; `dropped` reports when the tool `never` begins and when it is dropped.
pub(crate) struct Fixture {
    pub(crate) changes: broadcast::Sender<&'static str>,
    pub(crate) dropped: mpsc::UnboundedSender<String>,
}

/// Reports when a call is dropped before its end.
struct Watched {
    name: String,
    tell: Option<mpsc::UnboundedSender<String>>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(tell) = self.tell.take() {
            drop(tell.send(self.name.clone()));
        }
    }
}

impl Fixture {
    pub(crate) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<String>) {
        let (dropped, seen) = mpsc::unbounded_channel();
        (Arc::new(Self { changes: broadcast::Sender::new(16), dropped }), seen)
    }

    fn tool(&self, name: &str, params: &Value) -> Reply {
        let arguments = params["arguments"].clone();
        match name {
            "echo" => Reply::ready(Ok(text(arguments["text"].as_str().unwrap_or("nothing")))),
            "progress" => progress(params["_meta"]["progressToken"].clone()),
            "ask" => ask(),
            "detach" => detach(),
            "wait" => {
                let mut changes = self.changes.subscribe();
                Reply::from_future(async move {
                    drop(changes.recv().await);
                    Ok(text("waited"))
                })
            }
            "panic" => Reply::from_future(async { panic!("as it was asked to") }),
            "never" => {
                let watched = Watched { name: name.to_owned(), tell: Some(self.dropped.clone()) };
                Reply::from_future(async move {
                    if let Some(tell) = &watched.tell {
                        drop(tell.send("began".to_owned()));
                    }
                    let _watched = watched;
                    std::future::pending().await
                })
            }
            _ => Reply::ready(Err(Fault::new(FaultKind::InvalidRequest, format!("no tool named `{name}`")))),
        }
    }
}

impl Handler for Fixture {
    fn call(&self, call: Call) -> Reply {
        let params: Value = call.params.as_ref().and_then(|raw| raw.decode().ok()).unwrap_or_default();
        match call.method.as_ref() {
            method::DISCOVER => Reply::ready(Ok(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}, "logging": {}},
                "instructions": "be kind",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fixture", "version": "1"}},
            }).into())),
            method::TOOLS_LIST => {
                let schema = json!({"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}});
                let tool = json!({"name": "echo", "inputSchema": schema, "vendor": {"big": 1}});
                Reply::ready(Ok(json!({"tools": [tool]}).into()))
            }
            method::TOOLS_CALL => self.tool(params["name"].as_str().unwrap_or_default(), &params),
            method::LISTEN => {
                let events = stream::unfold(self.changes.subscribe(), |mut changes| async move {
                    let name = changes.recv().await.ok()?;
                    if name == GIVE_UP {
                        let fault = Fault::new(FaultKind::Overloaded, "others need the place");
                        return Some((Part::Final(Err(fault)), changes));
                    }
                    Some((Part::Notification(Notification::new(name, None)), changes))
                });
                let agreed = json!({"notifications": params["notifications"]});
                let first = Part::Notification(Notification::new(method::ACKNOWLEDGED, Some(agreed.into())));
                Reply::new(stream::iter([first]).chain(events))
            }
            other => Reply::ready(Err(Fault::new(FaultKind::NotAvailable, format!("no method `{other}`")))),
        }
    }

    fn has_view(&self, view: &str) -> bool {
        view == "files"
    }
}

fn text(text: &str) -> Raw {
    json!({"content": [{"type": "text", "text": text}]}).into()
}

fn progress(token: Value) -> Reply {
    let step = move |value: u32| {
        let params = json!({"progressToken": token, "progress": value, "total": 2});
        Part::Notification(Notification::new(method::PROGRESS, Some(params.into())))
    };
    let parts = vec![step(1), step(2), Part::Final(Ok(text("done")))];
    Reply::new(stream::iter(parts))
}

fn ask() -> Reply {
    let (tell, answer) = oneshot::channel::<Outcome>();
    let form = json!({"message": "Name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let question = Question::new(method::ELICIT, Some(form.into()), move |outcome| drop(tell.send(outcome)))
        .named("user_name");
    let last = async move {
        let answer: Value = answer.await.unwrap_or(Ok(Raw::null()))?.decode().unwrap_or_default();
        Ok(text(&format!("hello {}", answer["content"]["name"].as_str().unwrap_or("nobody"))))
    };
    let parts =
        stream::iter([Part::Question(question)]).chain(stream::once(async { Part::Final(last.await) }));
    Reply::new(parts)
}

fn detach() -> Reply {
    Reply::new(stream::iter([Part::Detach, Part::Final(Ok(text("later")))]))
}

/// A server on a free port, stopped through the returned sender.
pub(crate) async fn start(
    handler: Arc<impl Handler + 'static>,
    options: ServeOptions,
) -> (SocketAddr, watch::Sender<Shutdown>, tokio::task::JoinHandle<()>) {
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)), handler, options)
        .await
        .expect("loopback has a free port");
    let address = server.address();
    let (tell, told) = watch::channel(Shutdown::Running);
    (address, tell, tokio::spawn(server.run(told)))
}

/// A server for [`RawConnection`](wire::RawConnection), stopped through the returned sender.
pub(crate) async fn hosted(limits: Limits) -> (SocketAddr, watch::Sender<Shutdown>) {
    let guard = Guard { hosts: vec![wire::HOST.to_owned()], ..Guard::default() };
    let options = ServeOptions { guard, limits, ..ServeOptions::default() };
    let (address, running, _server) = start(Fixture::new().0, options).await;
    (address, running)
}
