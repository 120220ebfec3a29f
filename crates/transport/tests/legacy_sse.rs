//! HTTP+SSE: the endpoint is learned, checked and posted to; messages come over the stream.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod http_support;

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_support::{Peer, headers};
use tokio::join;
use trunkline_transport::http::{HttpClient, HttpError, HttpOptions, Phase};
use trunkline_transport::legacy_sse::Connection;

async fn open(peer: &Peer, options: HttpOptions) -> Result<Connection, HttpError> {
    let client = HttpClient::new(options).unwrap();
    Connection::open(&client, &peer.url(), headers(&[("authorization", "Bearer canary")])).await
}

/// Opens a connection to a peer whose stream begins with these events.
async fn opened(events: &str) -> Result<Connection, HttpError> {
    let peer = Peer::start().await;
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk(events).await;
        connection.end().await;
        connection
    };
    join!(server, open(&peer, HttpOptions::default())).1
}

#[tokio::test]
async fn messages_are_posted_to_the_endpoint_and_come_over_the_stream() {
    let peer = Peer::start().await;
    let server = async {
        let (mut stream, request) = peer.request().await;
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/mcp"));
        assert_eq!(request.headers["accept"], "text/event-stream");
        stream.begin_events().await;
        stream.chunk(": hi\n\nevent: endpoint\ndata: /messages?sessionId=1\n\n").await;
        let (mut posts, post) = peer.request().await;
        assert_eq!((post.method.as_str(), post.path.as_str()), ("POST", "/messages?sessionId=1"));
        assert_eq!(post.headers["content-type"], "application/json");
        assert_eq!(post.headers["authorization"], "Bearer canary");
        assert_eq!(post.body, "{\"a\":1}");
        posts.answer(202, &[], "Accepted").await;
        posts.request().await;
        posts.answer(400, &[], "no").await;
        stream.chunk("event: message\ndata: {\"b\":2}\n\nevent: ping\ndata: 1\n\ndata: {}\n\n").await;
        stream.end().await;
    };
    let client = async {
        let (sender, mut receiver) = open(&peer, HttpOptions::default()).await.unwrap().split();
        sender.send(Bytes::from_static(b"{\"a\":1}")).await.unwrap();
        let error = sender.send(Bytes::from_static(b"{}")).await.unwrap_err();
        assert_eq!(
            (error.status().unwrap().status.as_u16(), &error.status().unwrap().body[..]),
            (400, &b"no"[..])
        );
        assert_eq!(receiver.next().await.unwrap().unwrap(), "{\"b\":2}");
        assert_eq!(receiver.next().await.unwrap().unwrap(), "{}");
        assert_eq!(receiver.next().await.unwrap(), None);
    };
    join!(server, client);
}

#[tokio::test]
async fn an_endpoint_is_resolved_against_the_streams_address() {
    for (data, path) in [("messages/1", "/messages/1"), ("?id=1", "/mcp?id=1"), (" /x ", "/x")] {
        let connection = opened(&format!("event: endpoint\ndata: {data}\n\n")).await.unwrap();
        let endpoint = connection.sender.endpoint().url().clone();
        assert_eq!(endpoint[url::Position::BeforePath..], *path);
    }
}

#[tokio::test]
async fn an_endpoint_of_another_origin_is_refused() {
    for foreign in
        ["http://127.0.0.1:1/mcp", "https://127.0.0.1/mcp", "//evil.test/mcp", "http://localhost/mcp"]
    {
        let error = opened(&format!("event: endpoint\ndata: {foreign}\n\n")).await.unwrap_err();
        assert!(matches!(error, HttpError::ForeignEndpoint { .. }), "{foreign}: {error:?}");
    }
    let error = opened("event: endpoint\ndata: file:///etc/passwd\n\n").await.unwrap_err();
    assert!(matches!(error, HttpError::InvalidUrl(_)), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_never_names_an_endpoint_is_given_up() {
    let error = opened("data: {}\n\n").await.unwrap_err();
    assert!(matches!(error, HttpError::NoEndpoint), "{error:?}");

    let peer = Peer::start().await;
    let endpoint_timeout = Duration::from_millis(50);
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.closed().await;
    };
    let error =
        join!(server, open(&peer, HttpOptions { endpoint_timeout, ..HttpOptions::default() })).1.unwrap_err();
    assert!(matches!(error, HttpError::Timeout { phase: Phase::Endpoint, .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_no_event_stream_is_refused() {
    let peer = Peer::start().await;
    let server = async { peer.request().await.0.answer(200, &[("content-type", "text/html")], "<p>").await };
    let error = join!(server, open(&peer, HttpOptions::default())).1.unwrap_err();
    assert!(matches!(error, HttpError::UnexpectedContentType(_)), "{error:?}");
    let server = async { peer.request().await.0.answer(404, &[], "gone").await };
    let error = join!(server, open(&peer, HttpOptions::default())).1.unwrap_err();
    assert_eq!(error.status().unwrap().body, "gone");
}

#[tokio::test]
async fn dropping_the_receiver_closes_the_stream_and_a_break_is_an_error() {
    let peer = Peer::start().await;
    let client = HttpClient::new(HttpOptions::default()).unwrap();
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk("event: endpoint\ndata: /m\n\n").await;
        connection.closed().await;
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk("event: endpoint\ndata: /m\n\ndata: {").await;
    };
    let test = async {
        drop(Connection::open(&client, &peer.url(), HeaderMap::new()).await.unwrap());
        let (_sender, mut receiver) =
            Connection::open(&client, &peer.url(), HeaderMap::new()).await.unwrap().split();
        let error = receiver.next().await.unwrap_err();
        assert!(matches!(error, HttpError::Broken(_)), "{error:?}");
    };
    join!(server, test);
}
