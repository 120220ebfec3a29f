//! Calls through two handlers, and the spans that are recorded.

use super::*;
use crate::upstream::layered;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex};
use trunkline_protocol::{
    Call, Caller, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Outcome, Profile, Raw,
    Reply, Revision, Session, message::TraceParent, method,
};

const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Returns the configured answer and records the calls.
struct Peer {
    outcome: Outcome,
    calls: Mutex<Vec<Call>>,
}

impl Peer {
    fn new(outcome: Outcome) -> Arc<Self> {
        Arc::new(Self { outcome, calls: Mutex::default() })
    }

    fn params(&self) -> String {
        self.calls.lock().unwrap().last().unwrap().params.as_ref().unwrap().to_string()
    }

    fn traceparent(&self) -> TraceParent {
        let raw = Raw::parse(self.params()).unwrap();
        raw.member("_meta").unwrap().member_as::<String>("traceparent").unwrap().parse().unwrap()
    }
}

impl Handler for Peer {
    fn call(&self, call: Call) -> Reply {
        self.calls.lock().unwrap().push(call);
        Reply::ready(self.outcome.clone())
    }
}

impl Session for Peer {
    fn introduction(&self) -> Raw {
        Raw::empty_object()
    }

    fn revision(&self) -> Revision {
        "2025-06-18".parse().unwrap()
    }

    fn on_event(&self, _: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn lost(&self) -> BoxFuture<'static, Fault> {
        Box::pin(std::future::pending())
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct Way(Arc<Peer>);

impl Connect for Way {
    fn connect(&self, _: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let peer: Arc<dyn Session> = self.0.clone();
        Box::pin(std::future::ready(Ok(peer)))
    }
}

fn profile() -> Profile {
    Profile { principal: "ada".into(), capabilities: "{}".into(), client: None }
}

fn asked(params: &str) -> Call {
    let mut call = Call::new(method::TOOLS_CALL, Some(Raw::parse(params.to_owned()).unwrap()));
    call.caller = Arc::new(Caller::named("ada"));
    call
}

fn everything() -> (Tracer, Spans) {
    tracer(TraceOptions::default())
}

#[tokio::test]
async fn client_span_hangs_below_server_span_and_the_upstream_hears_the_client_span() {
    let (tracer, mut spans) = everything();
    let peer = Peer::new(Ok(Raw::empty_object()));
    let (spanned, way) = (tracer.clone(), Arc::new(Way(peer.clone())));
    let way = layered(way, move |session| Traced::session(session, spanned.clone(), "files".into()));
    let session = way.connect(profile()).await.unwrap();
    let gateway = Traced::server(session, Some(tracer));
    let params = format!(
        r#"{{"name":"read","arguments":{{"n":1.50}},"_meta":{{"traceparent":"{GIVEN}","tracestate":"a=1,\u0062=\/2","baggage":"k=v\u00e9","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}"#
    );
    gateway.call(asked(&params)).outcome().await.unwrap();

    let spans = spans.take(9);
    let [client, server] = spans.as_slice() else { panic!("{spans:?}") };
    let given: TraceParent = GIVEN.parse().unwrap();
    assert_eq!((server.trace_id, client.trace_id), (given.trace_id, given.trace_id));
    assert_eq!((server.parent, client.parent), (Some(given.span_id), Some(server.span_id)));
    assert_eq!(peer.traceparent(), given.child(client.span_id));
    assert_eq!(server.trace_state.as_deref(), Some("a=1,b=/2"));
    let same = params.replace(GIVEN, &given.child(client.span_id).to_string());
    assert_eq!(peer.params(), same, "only the span id differs");

    assert_eq!(server.name(), "tools/call read");
    let attributes =
        |span: &Span| span.attributes().into_iter().collect::<std::collections::BTreeMap<_, _>>();
    let values = attributes(client);
    assert_eq!(values["trunkline.server"], "files");
    assert_eq!(values["mcp.protocol.version"], "2025-06-18");
    assert_eq!(values["gen_ai.tool.name"], "read");
    assert_eq!(attributes(server)["mcp.protocol.version"], "2026-07-28");
    assert!(!values.contains_key("error.type"));
}

#[tokio::test]
async fn a_call_without_context_begins_a_trace() {
    let (tracer, mut spans) = everything();
    let peer = Peer::new(Ok(Raw::empty_object()));
    let traced = Traced::server(peer.clone(), Some(tracer));
    traced.call(Call::new(method::TOOLS_LIST, None)).outcome().await.unwrap();
    let span = spans.take(2).remove(0);
    assert_eq!((span.parent, span.name()), (None, "tools/list".to_owned()));
    assert_eq!(peer.traceparent().span_id, span.span_id);
    traced.call(asked(r#"{"name":"x","_meta":{"traceparent":"00-junk"}}"#)).outcome().await.unwrap();
    assert_eq!(spans.take(2)[0].parent, None, "a malformed value counts as missing");
}

#[tokio::test]
async fn without_a_tracer_and_in_traces_nobody_records_messages_pass_untouched() {
    let peer = Peer::new(Ok(Raw::empty_object()));
    let off = Traced::server(peer.clone(), None);
    for params in
        [format!(r#"{{ "_meta":{{"traceparent":"{GIVEN}"}} ,"name":"x"}}"#), r#"{"name":"x"}"#.into()]
    {
        off.call(asked(&params)).outcome().await.unwrap();
        assert_eq!(peer.params(), params);
    }
    let (tracer, mut spans) = everything();
    let on = Traced::server(peer.clone(), Some(tracer.clone()));
    let params = format!(r#"{{ "name":"x", "_meta":{{"traceparent":"{}"}}}}"#, GIVEN.replace("-01", "-00"));
    on.call(asked(&params)).outcome().await.unwrap();
    assert_eq!(peer.params(), params);
    assert!(spans.take(1).is_empty() && tracer.recorded() == 0);
}

#[tokio::test]
async fn a_trace_that_is_not_drawn_says_so_to_whoever_comes_next() {
    let (tracer, mut spans) = tracer(TraceOptions { ratio: 0.0, ..TraceOptions::default() });
    let peer = Peer::new(Ok(Raw::empty_object()));
    Traced::server(peer.clone(), Some(tracer)).call(asked(r#"{"name":"x"}"#)).outcome().await.unwrap();
    assert!(!peer.traceparent().is_sampled());
    assert!(spans.take(1).is_empty());
}

#[tokio::test]
async fn endings_are_told_apart() {
    let (tracer, mut spans) = everything();
    let failing: Raw = serde_json::json!({"content": [], "isError": true}).into();
    let fault = Fault::new(FaultKind::Timeout, "no answer with token=abc");
    for outcome in [Ok(Raw::empty_object()), Ok(failing), Err(fault)] {
        let traced = Traced::server(Peer::new(outcome), Some(tracer.clone()));
        drop(traced.call(asked(r#"{"name":"x"}"#)).outcome().await);
    }
    drop(Traced::server(Peer::new(Ok(Raw::null())), Some(tracer)).call(asked(r#"{"name":"x"}"#)));
    let spans = spans.take(9);
    let kinds: Vec<_> = spans
        .iter()
        .map(|span| {
            span.attributes().into_iter().find(|(name, _)| *name == "error.type").map(|(_, kind)| kind)
        })
        .collect();
    let kinds: Vec<_> = kinds.iter().map(Option::as_deref).collect();
    assert_eq!(kinds, [None, Some("tool_error"), Some("1202"), Some("cancelled")]);
    assert!(!format!("{:?}", spans[2].ending).contains("abc"), "the fault's own message is left out");
}

#[tokio::test]
async fn a_subscription_begins_no_trace_and_is_not_at_fault_when_its_caller_leaves() {
    let (tracer, mut spans) = everything();
    let traced = Traced::server(Peer::new(Ok(Raw::empty_object())), Some(tracer));
    drop(traced.call(Call::new(method::LISTEN, None)));
    assert!(spans.take(1).is_empty());
    let params = serde_json::json!({"_meta": {"traceparent": GIVEN}});
    drop(traced.call(Call::new(method::LISTEN, Some(params.into()))));
    assert_eq!(spans.take(1)[0].ending, Ending::Fine);
}

#[tokio::test]
async fn a_full_queue_drops_and_counts_and_never_waits() {
    let (tracer, mut spans) = tracer(TraceOptions { queue: 2, ..TraceOptions::default() });
    let traced = Traced::server(Peer::new(Ok(Raw::empty_object())), Some(tracer.clone()));
    for _ in 0..5 {
        traced.call(asked(r#"{"name":"x"}"#)).outcome().await.unwrap();
    }
    assert_eq!((tracer.recorded(), tracer.dropped()), (5, 3));
    assert_eq!(spans.next_batch(9).await.len(), 2);
    tracer.lost(2);
    assert_eq!(tracer.dropped(), 5);
}

#[tokio::test]
async fn addresses_are_kept_without_secrets_and_out_of_names() {
    let (tracer, mut spans) = everything();
    let traced = Traced::server(Peer::new(Ok(Raw::empty_object())), Some(tracer));
    let params = serde_json::json!({"uri": "db://ada:pw@h/x?token=abc"});
    traced.call(Call::new(method::RESOURCES_READ, Some(params.into()))).outcome().await.unwrap();
    let span = spans.take(1).remove(0);
    assert_eq!(span.name(), "resources/read");
    let About::Resource(uri) = &span.about else { panic!("{span:?}") };
    assert!(!uri.contains("pw") && !uri.contains("abc"), "{uri}");
}
