//! Redirects: followed within the origin, refused otherwise; no header or body reaches another
//! origin.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod http_support;

use bytes::Bytes;
use http_support::{JSON, Peer, headers};
use tokio::join;
use trunkline_transport::http::{HttpError, HttpOptions, MAX_REDIRECTS, RedirectError};
use trunkline_transport::streamable_http::{Endpoint, Resume};

async fn post(endpoint: &Endpoint) -> Result<Bytes, HttpError> {
    let own = headers(&[("authorization", "Bearer canary")]);
    let mut exchange = endpoint.post(Bytes::from_static(b"{\"secret\":1}"), own, Resume::Never).await?;
    Ok(exchange.next().await?.unwrap())
}

/// Posts to a peer that answers one request, with a redirect, and returns the client's error.
async fn redirect(status: u16, location: &str) -> RedirectError {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.answer(status, &[("location", location)], "").await;
        connection
    };
    let (_connection, answer) = join!(server, post(&endpoint));
    match answer {
        Err(HttpError::Redirect(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn within_the_origin_method_headers_and_body_are_kept() {
    for status in [307, 308] {
        let peer = Peer::start().await;
        let endpoint = peer.endpoint(HttpOptions::default());
        let absolute = format!("http://127.0.0.1:{}/there", peer.port);
        let server = async {
            let (mut connection, _) = peer.request().await;
            connection.answer(status, &[("location", "/mcp/")], "").await;
            assert_eq!(connection.request().await.path, "/mcp/");
            connection.answer(status, &[("location", &absolute)], "").await;
            let last = connection.request().await;
            connection.answer(200, &[JSON], "{}").await;
            last
        };
        let (last, answer) = join!(server, post(&endpoint));
        assert_eq!(answer.unwrap(), "{}");
        assert_eq!((last.method.as_str(), last.path.as_str()), ("POST", "/there"));
        assert_eq!(last.body, "{\"secret\":1}");
        assert_eq!(last.headers["authorization"], "Bearer canary");
    }
}

#[tokio::test]
async fn another_origin_gets_nothing_and_is_named() {
    let other = Peer::start().await;
    let target = other.url();
    for status in [301, 302, 303, 307, 308] {
        let error = redirect(status, &target).await;
        assert_eq!(error, RedirectError::OtherOrigin { target: target.clone() }, "{status}");
        assert!(error.to_string().contains(&target));
    }
    other.assert_untouched();
}

#[tokio::test]
async fn another_scheme_or_a_look_alike_host_is_another_origin() {
    for location in ["https://127.0.0.1/", "http://127.0.0.1.evil.test/", "//evil.test/", "\\\\evil.test\\"] {
        assert!(matches!(redirect(307, location).await, RedirectError::OtherOrigin { .. }), "{location}");
    }
    for location in ["file:///etc/passwd", "javascript:alert(1)", "http://user@127.0.0.1/", "http://["] {
        assert!(matches!(redirect(307, location).await, RedirectError::BadLocation(_)), "{location}");
    }
}

#[tokio::test]
async fn a_redirect_that_would_lose_the_message_is_refused() {
    for status in [301, 302, 303] {
        let error = redirect(status, "/there").await;
        assert!(matches!(error, RedirectError::LosesBody { status: s, .. } if s == status), "{error:?}");
    }
}

#[tokio::test]
async fn a_get_follows_every_kind_of_redirect_at_home() {
    for status in [301, 302, 303, 307, 308] {
        let peer = Peer::start().await;
        let endpoint = peer.endpoint(HttpOptions::default());
        let server = async {
            let (mut connection, _) = peer.request().await;
            connection.answer(status, &[("location", "there")], "").await;
            let request = connection.request().await;
            assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/there"));
            connection.answer(200, &[("content-type", "text/event-stream")], "data: 1\n\n").await;
        };
        let client =
            async { endpoint.listen(headers(&[]), None).await.unwrap().next().await.unwrap().unwrap() };
        assert_eq!(join!(server, client).1, "1");
    }
}

#[tokio::test]
async fn a_loop_of_redirects_is_left() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let mut connection = peer.accept().await;
        for _ in 0..=MAX_REDIRECTS {
            connection.request().await;
            connection.answer(307, &[("location", "/mcp")], "").await;
        }
        connection
    };
    let (_connection, answer) = join!(server, post(&endpoint));
    assert!(matches!(answer, Err(HttpError::Redirect(RedirectError::TooMany))), "{answer:?}");
}

#[tokio::test]
async fn a_redirect_without_location_is_a_status() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async { peer.request().await.0.answer(307, &[], "").await };
    let error = join!(server, post(&endpoint)).1.unwrap_err();
    assert_eq!(error.status().unwrap().status, 307);
}
