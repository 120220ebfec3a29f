//! Exports spans to a collector that is a real HTTP server.

use super::{TelemetryArgs, TraceSettings, export::Export};
use crate::{
    environment::Environment,
    telemetry::Telemetry,
    wire::stack::{Stack, around_session},
};
use futures_util::future::BoxFuture;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value::Value,
    trace::v1::{Span, span::SpanKind},
};
use prost::Message;
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use trunkline_config::Errors;
use trunkline_gateway::{
    metrics::{Meter, PerTool},
    trace::Traced,
};
use trunkline_protocol::{
    Call, Connect, ConnectError, Fault, Handler, Notification, Profile, Raw, Reply, Revision, Session, method,
};
use trunkline_serve::ServeOptions;

/// One request that the collector received.
struct Heard {
    head: String,
    request: ExportTraceServiceRequest,
}

/// A collector that responds with these statuses in order, and then with 200.
async fn collector(statuses: &'static [u16]) -> (SocketAddr, mpsc::UnboundedReceiver<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut statuses = statuses.iter();
        while let Ok((stream, _)) = listener.accept().await {
            let status = *statuses.next().unwrap_or(&200);
            drop(tell.send(answer(stream, status).await));
        }
    });
    (address, heard)
}

async fn answer(stream: TcpStream, status: u16) -> Heard {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).await.unwrap() > 0, "{head}");
    }
    let length =
        head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    let text = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    Heard { head, request: ExportTraceServiceRequest::decode(body.as_slice()).unwrap() }
}

fn spans(heard: &Heard) -> Vec<Span> {
    let scopes = heard.request.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
    scopes.flat_map(|scope| scope.spans.clone()).collect()
}

fn attributes(span: &Span) -> BTreeMap<&str, &str> {
    let pair = |pair: &'_ opentelemetry_proto::tonic::common::v1::KeyValue| match pair
        .value
        .as_ref()?
        .value
        .as_ref()?
    {
        Value::StringValue(text) => Some((pair.key.clone(), text.clone())),
        _ => None,
    };
    let pairs: BTreeMap<String, String> = span.attributes.iter().filter_map(pair).collect();
    pairs.into_iter().map(|(name, value)| (&*name.leak(), &*value.leak())).collect()
}

struct Server;

impl Handler for Server {
    fn call(&self, _: Call) -> Reply {
        Reply::ready(Ok(serde_json::json!({"content": [], "isError": true}).into()))
    }
}

impl Session for Server {
    fn introduction(&self) -> Raw {
        Raw::empty_object()
    }

    fn revision(&self) -> Revision {
        Revision::NEWEST
    }

    fn on_event(&self, _: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn lost(&self) -> BoxFuture<'static, Fault> {
        Box::pin(std::future::pending())
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Connect for Server {
    fn connect(&self, _: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        Box::pin(std::future::ready(Ok(Arc::new(Self) as Arc<dyn Session>)))
    }
}

fn settings(address: SocketAddr) -> TraceSettings {
    TraceSettings {
        endpoint: format!("http://{address}/v1/traces"),
        headers: [("x-key".to_owned(), "abc".to_owned())].into(),
        service_name: "front".to_owned(),
        ratio: 1.0,
        timeout: std::time::Duration::from_secs(10),
    }
}

/// The default settings, without any file.
fn defaults() -> trunkline_config::Settings {
    let folder = tempfile::tempdir().unwrap();
    let inputs = trunkline_config::Inputs {
        directory: folder.path().to_owned(),
        file: None,
        approvals: None,
        user_directory: None,
        home: None,
        variables: BTreeMap::new(),
        flags: Vec::new(),
        secrets: &trunkline_config::NoKeychain,
    };
    trunkline_config::load(&inputs).unwrap().settings
}

fn asked() -> Call {
    let params = serde_json::json!({"name": "read", "_meta": {
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "tracestate": "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    }});
    Call::new(method::TOOLS_CALL, Some(params.into()))
}

#[tokio::test]
async fn two_hops_are_linked_in_what_the_collector_hears() {
    let (address, mut heard) = collector(&[503]).await;
    let export = Export::start(settings(address)).unwrap();
    let (server, meter) = ("files".parse().unwrap(), Meter::new(PerTool::No));
    let way = around_session(Arc::new(Server), &server, Some(export.tracer().clone()), meter);
    let profile = Profile { principal: "ada".into(), capabilities: "{}".into(), client: None };
    let session = way.connect(profile).await.unwrap();
    let gateway = Traced::server(session, Some(export.tracer().clone()));
    gateway.call(asked()).outcome().await.unwrap();
    let tracer = export.tracer().clone();
    export.finish().await;
    assert_eq!((tracer.recorded(), tracer.dropped()), (2, 0));

    let refused = heard.recv().await.unwrap();
    let taken = heard.recv().await.expect("what was refused with 503 is sent again");
    assert_eq!(refused.request, taken.request);
    assert!(
        taken.head.starts_with("POST /v1/traces ") && taken.head.contains("x-key: abc"),
        "{}",
        taken.head
    );
    let resource = taken.request.resource_spans[0].resource.clone().unwrap();
    assert!(format!("{resource:?}").contains("front"));

    let all = spans(&taken);
    let kind = |wanted: SpanKind| all.iter().find(|span| span.kind == i32::from(wanted)).unwrap();
    let (server, client) = (kind(SpanKind::Server), kind(SpanKind::Client));
    assert_eq!(
        u128::from_be_bytes(server.trace_id.clone().try_into().unwrap()),
        0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736
    );
    assert_eq!(server.parent_span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
    assert_eq!((&client.trace_id, &client.parent_span_id), (&server.trace_id, &server.span_id));
    assert_eq!(server.trace_state, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    assert_eq!(client.name, "tools/call read");
    let told = attributes(client);
    assert_eq!((told["trunkline.server"], told["gen_ai.tool.name"]), ("files", "read"));
    assert_eq!((told["mcp.method.name"], told["error.type"]), ("tools/call", "tool_error"));
    assert_eq!(client.status.as_ref().unwrap().code, 2);
    assert!(client.end_time_unix_nano >= client.start_time_unix_nano && client.start_time_unix_nano > 0);
}

#[tokio::test]
async fn a_collector_that_is_away_costs_spans_and_nothing_else() {
    // The listener is dropped, so connections to this address are refused.
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let export = Export::start(settings(address)).unwrap();
    let traced = Traced::server(Server, Some(export.tracer().clone()));
    traced.call(asked()).outcome().await.unwrap();
    let tracer = export.tracer().clone();
    export.finish().await;
    assert_eq!((tracer.recorded(), tracer.dropped()), (1, 1));
}

#[tokio::test]
async fn lines_carry_the_trace_that_began_here_and_figures_tell_of_losses() {
    let (address, mut heard) = collector(&[]).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("access.log");
    let args = TelemetryArgs { access_log: Some(file.clone()), ..TelemetryArgs::default() };
    let environment =
        Environment::of([("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}").as_str())]);
    let telemetry = Telemetry::start(&args, (&defaults()).into(), &environment).unwrap();
    let stack = Stack {
        telemetry: &telemetry,
        audit: None,
        rates: None,
        hooks: None,
        errors: Errors::Standard,
        gateway: None,
        cut_results: None,
    };
    let handler = stack.around(Arc::new(Server), &mut ServeOptions::default());
    handler.call(Call::new(method::TOOLS_LIST, None)).outcome().await.unwrap();
    let metrics = telemetry.metrics();
    telemetry.finish().await;
    let page = metrics();
    for line in
        ["trunkline_spans_total 1", "trunkline_spans_dropped_total 0", "trunkline_access_log_dropped_total 0"]
    {
        assert!(page.lines().any(|found| found == line), "{page}");
    }
    let span = spans(&heard.recv().await.unwrap()).remove(0);
    let trace = format!("{:032x}", u128::from_be_bytes(span.trace_id.try_into().unwrap()));
    let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((line["trace"].as_str(), line["method"].as_str()), (Some(trace.as_str()), Some("tools/list")));
}
