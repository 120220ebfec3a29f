//! Streams that end early are resumed after the last event, with the delay that the server asks
//! for.

mod http_support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use http_support::{Connection, Peer, Received, headers};
use tokio::join;
use trunkline_transport::http::{HttpError, HttpOptions};
use trunkline_transport::streamable_http::{Endpoint, Reconnect, Resume};

const QUICK: Reconnect =
    Reconnect { attempts: 2, default_retry: Duration::from_millis(1), max_retry: Duration::from_millis(2) };

async fn frames(endpoint: &Endpoint) -> (Vec<Bytes>, Result<(), HttpError>) {
    let resume =
        Resume::LastEventId { headers: headers(&[("mcp-session-id", "s")]).into(), reconnect: QUICK };
    let exchange = endpoint.post(Bytes::from_static(b"{}"), HeaderMap::new(), resume).await;
    let mut exchange = match exchange {
        Ok(exchange) => exchange,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut frames = Vec::new();
    loop {
        match exchange.next().await {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, Ok(())),
            Err(error) => return (frames, Err(error)),
        }
    }
}

/// Answers the next request with a stream of these events that then ends cleanly.
async fn serve(peer: &Peer, events: &str) -> Received {
    let (mut connection, request) = peer.request().await;
    stream(&mut connection, events).await;
    connection.end().await;
    request
}

/// Answers the next request with a stream of these events that then breaks.
async fn serve_and_break(peer: &Peer, events: &str) -> Received {
    let (mut connection, request) = peer.request().await;
    stream(&mut connection, events).await;
    request
}

async fn stream(connection: &mut Connection, events: &str) {
    connection.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n").await;
    connection.write("transfer-encoding: chunked\r\n\r\n").await;
    if !events.is_empty() {
        connection.chunk(events).await;
    }
}

#[track_caller]
fn assert_resumed(request: &Received, last_event_id: &str) {
    assert_eq!(request.method, "GET");
    assert_eq!(request.headers["last-event-id"], last_event_id);
    assert_eq!(request.headers["accept"], "text/event-stream");
    assert_eq!(request.headers["mcp-session-id"], "s");
}

#[tokio::test]
async fn a_server_that_went_away_while_it_answered_is_not_one_that_was_never_reached() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async move {
        serve_and_break(&peer, "id: 1\ndata: a\n\n").await;
        drop(peer);
    };
    let (frames, end) = join!(server, frames(&endpoint)).1;
    assert_eq!(frames, ["a"]);
    let error = end.unwrap_err();
    assert!(
        matches!(error, HttpError::Broken(_)) && error.to_string().contains("during the call"),
        "{error}"
    );
}

#[tokio::test]
async fn a_stream_goes_on_behind_the_last_event_however_it_ended() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        serve_and_break(&peer, "id: 1\ndata: a\n\ndata: b\n\nid: lost\ndata: lo").await;
        assert_resumed(&serve(&peer, "id: 2\n\n").await, "1");
        assert_resumed(&serve_and_break(&peer, "id: 3\ndata: c\n\n").await, "2");
        let (mut connection, request) = peer.request().await;
        assert_resumed(&request, "3");
        connection.answer(204, &[], "").await;
    };
    let (frames, end) = join!(server, frames(&endpoint)).1;
    end.unwrap();
    assert_eq!(frames, ["a", "b", "c"]);
}

#[tokio::test]
async fn the_server_decides_how_long_to_wait() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        serve(&peer, "id: 1\nretry: 200\ndata:\n\n").await;
        let ended = Instant::now();
        let (mut connection, _) = peer.request().await;
        let waited = ended.elapsed();
        connection.answer(204, &[], "").await;
        waited
    };
    let (waited, (_, end)) = join!(server, frames(&endpoint));
    end.unwrap();
    assert!(waited >= Duration::from_millis(190), "{waited:?}");
}

#[tokio::test]
async fn without_an_id_an_end_is_an_end_and_a_break_an_error() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let (_, (got, end)) = join!(serve(&peer, "retry: 1\ndata: a\n\n"), frames(&endpoint));
    assert_eq!(got, ["a"]);
    end.unwrap();
    let (_, (got, end)) = join!(serve_and_break(&peer, "retry: 1\ndata: a\n\n"), frames(&endpoint));
    assert_eq!(got, ["a"]);
    assert!(matches!(end, Err(HttpError::Broken(_))), "{end:?}");
}

#[tokio::test]
async fn attempts_that_bring_nothing_new_are_limited() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        serve(&peer, "id: 1\ndata: a\n\n").await;
        serve(&peer, "").await;
        serve(&peer, "retry: 1\n\n").await;
    };
    let ((), (frames, end)) = join!(server, frames(&endpoint));
    assert_eq!(frames, ["a"]);
    let Err(HttpError::Broken(source)) = end else { panic!("{end:?}") };
    assert_eq!(
        source.to_string(),
        "the stream ended early, and 2 attempts to resume it returned no new event"
    );
}

#[tokio::test]
async fn a_refusal_that_may_pass_is_outwaited_and_another_stands() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        serve(&peer, "id: 1\ndata: a\n\n").await;
        let (mut connection, request) = peer.request().await;
        assert_resumed(&request, "1");
        connection.answer(503, &[("connection", "close")], "").await;
        assert_resumed(&serve(&peer, "id: 2\ndata: b\n\n").await, "1");
        let (mut connection, request) = peer.request().await;
        assert_resumed(&request, "2");
        connection.answer(404, &[("connection", "close")], "").await;
    };
    let ((), (frames, end)) = join!(server, frames(&endpoint));
    assert_eq!(frames, ["a", "b"]);
    assert_eq!(end.unwrap_err().status().unwrap().status, 404);
}

#[tokio::test]
async fn asking_again_while_a_stream_is_reopened_sends_no_second_request() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let (asked, was_asked) = tokio::sync::oneshot::channel();
    let (answer, may_answer) = tokio::sync::oneshot::channel();
    let server = async {
        serve(&peer, "id: 1\n\n").await;
        let (mut connection, request) = peer.request().await;
        assert_resumed(&request, "1");
        asked.send(()).unwrap();
        may_answer.await.unwrap();
        stream(&mut connection, "data: a\n\n").await;
        connection
    };
    let client = async {
        let resume =
            Resume::LastEventId { headers: headers(&[("mcp-session-id", "s")]).into(), reconnect: QUICK };
        let mut exchange = endpoint.post(Bytes::new(), HeaderMap::new(), resume).await.unwrap();
        tokio::select! {
            early = exchange.next() => panic!("{early:?}"),
            asked = was_asked => asked.unwrap(),
        }
        assert_eq!(exchange.last_event_id().unwrap().as_bytes(), b"1");
        answer.send(()).unwrap();
        exchange.next().await.unwrap().unwrap()
    };
    assert_eq!(join!(server, client).1, "a");
}

#[tokio::test]
async fn a_listener_reconnects_with_and_without_an_id() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let first = serve(&peer, "data: a\n\n").await;
        assert_eq!((first.method.as_str(), first.headers.get("last-event-id")), ("GET", None));
        let second = serve_and_break(&peer, "id: 7\ndata: b\n\n").await;
        assert_eq!(second.headers.get("last-event-id"), None);
        assert_resumed(&serve(&peer, "data: c\n\n").await, "7");
        serve(&peer, "").await;
        serve(&peer, "").await;
    };
    let client = async {
        let mut exchange = endpoint.listen(headers(&[("mcp-session-id", "s")]), Some(QUICK)).await.unwrap();
        let mut frames = Vec::new();
        while let Some(frame) = exchange.next().await.unwrap() {
            frames.push(frame);
        }
        frames
    };
    assert_eq!(join!(server, client).1, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_server_without_a_stream_of_its_own_says_so() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async { peer.request().await.0.answer(405, &[("allow", "POST")], "").await };
    let ((), listening) = join!(server, endpoint.listen(HeaderMap::new(), Some(QUICK)));
    assert_eq!(listening.unwrap_err().status().unwrap().status, 405);
}
