//! Request bodies, byte by byte: framing, `100-continue`, and bodies of refused requests.

use crate::support::{
    hosted,
    wire::{HANG, HOST, INITIALIZE, RawConnection, kept, list, modern},
};
use proptest::{prelude::*, sample::Index};
use std::{net::SocketAddr, time::Duration};
use trunkline_serve::Limits;

/// A POST with a chunked body of these chunk sizes.
fn chunked(id: usize, sizes: &[usize]) -> Vec<u8> {
    let (headers, body) = list(id);
    let head = kept("POST", "/mcp", &[headers, vec![("transfer-encoding", "Chunked")]].concat(), "");
    let mut out = head.into_bytes();
    let mut rest = body.as_bytes();
    for (nth, size) in sizes.iter().copied().chain([usize::MAX]).enumerate() {
        let (chunk, behind) = rest.split_at(size.min(rest.len()));
        if !chunk.is_empty() {
            let extension = if nth % 2 == 0 { "" } else { ";name=\"a;b\"" };
            out.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        rest = behind;
    }
    out.extend_from_slice(b"0;last\r\nx-trailer: 1\r\nhost: evil.test\r\n\r\n");
    out
}

fn measured(id: usize) -> Vec<u8> {
    let (headers, body) = list(id);
    kept("POST", "/mcp", &headers, &body).into_bytes()
}

async fn hears(talk: &mut RawConnection, id: usize) {
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.json()["id"].as_u64()), (200, Some(id as u64)), "{heard:?}");
}

#[tokio::test]
async fn a_chunked_body_may_be_cut_anywhere() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let request = [chunked(1, &[1, 20]), measured(2)].concat();
    for cut in 0..request.len() {
        talk.say_cut(&request, &[cut]).await;
        hears(&mut talk, 1).await;
        hears(&mut talk, 2).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn however_requests_are_cut_the_same_is_answered(
        kinds in prop::collection::vec(prop::option::of(prop::collection::vec(1..60_usize, 0..5)), 1..6),
        cuts in prop::collection::vec(any::<Index>(), 0..10),
    ) {
        let requests = kinds.iter().enumerate().map(|(id, chunks)| match chunks {
            Some(sizes) => chunked(id, sizes),
            None => measured(id),
        });
        let text = requests.collect::<Vec<_>>().concat();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        cuts.sort_unstable();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (address, _running) = hosted(Limits::default()).await;
            let mut talk = RawConnection::to(address).await;
            talk.say_cut(&text, &cuts).await;
            for id in 0..kinds.len() {
                hears(&mut talk, id).await;
            }
            talk.half_close().await;
            assert!(talk.rest().await.is_empty());
        });
    }
}

#[tokio::test]
async fn a_long_body_is_read_while_it_comes() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let (headers, body) = list(5);
    let padded = body.replacen('{', &format!("{{\"pad\":\"{}\",", "x".repeat(3_000_000)), 1);
    talk.say(kept("POST", "/mcp", &headers, &padded)).await;
    talk.say(measured(6)).await;
    hears(&mut talk, 5).await;
    hears(&mut talk, 6).await;
}

#[tokio::test]
async fn who_says_no_more_hears_all_of_an_answer_that_is_made() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let json = ("content-type", "application/json");
    talk.say(kept("POST", "/mcp", &[json], INITIALIZE)).await;
    let session = talk.hear().await.header("mcp-session-id").unwrap();
    let text = "x".repeat(9_000_000);
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}}}}}}"#
    );
    talk.say(kept("POST", "/mcp", &[json, ("mcp-session-id", &session)], &call)).await;
    talk.half_close().await;
    let heard = talk.hear().await;
    assert!(heard.status == 200 && heard.body.contains(&text), "{} bytes", heard.body.len());
    assert!(talk.rest().await.is_empty());
}

#[tokio::test]
async fn bad_chunks_are_refused_and_nothing_behind_them_is_read() {
    let (address, _running) = hosted(Limits::default()).await;
    let (headers, _) = list(1);
    let head = kept("POST", "/mcp", &[headers, vec![("transfer-encoding", "chunked")]].concat(), "");
    for chunks in [
        "x\r\n",
        "-1\r\n",
        "+1\r\n",
        "0x1\r\n",
        "\r\n",
        "1\n{",
        " 1\r\n{",
        "11111111111111111\r\n",
        "1\r\n{}\r\n",
        "1\r\n{\n",
        "0\r\nx: y\n\r\n",
        "1;a\n{",
        "1;a\0\r\n{",
        "1;a=\x01\r\n{",
        "1;\x7f\r\n{",
    ] {
        let mut talk = RawConnection::to(address).await;
        talk.say(format!("{head}{chunks}{}", kept("GET", "/healthz", &[], ""))).await;
        let heard = talk.hear().await;
        assert_eq!((heard.status, heard.header("connection").as_deref()), (400, Some("close")), "{chunks:?}");
        assert!(talk.rest().await.is_empty(), "{chunks:?}");
    }
}

#[tokio::test]
async fn who_waits_to_be_asked_for_its_body_is_asked_once_it_is_wanted() {
    let (address, _running) = hosted(Limits::default()).await;
    let (headers, body) = list(1);
    let expecting = [headers, vec![("expect", "100-Continue")]].concat();
    let request = kept("POST", "/mcp", &expecting, &body);
    let head = request.len() - body.len();
    let mut talk = RawConnection::to(address).await;
    talk.say(&request[..head]).await;
    assert_eq!(talk.hear_head().await.head, "HTTP/1.1 100 Continue\r\n\r\n");
    talk.say(&request[head..]).await;
    hears(&mut talk, 1).await;
    // No `100 Continue` if the client sent the body without waiting.
    talk.say(&request).await;
    hears(&mut talk, 1).await;
    // No `100 Continue` for a request that is refused.
    talk.say(kept("POST", "/nothing", &expecting, &body).as_bytes().split_at(head + 4).0).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (404, Some("close")));
}

#[tokio::test]
async fn an_old_client_is_not_asked_for_its_body() {
    let (address, _running) = hosted(Limits::default()).await;
    let (headers, body) = list(1);
    let request = kept("POST", "/mcp", &[headers, vec![("expect", "100-continue")]].concat(), &body);
    let request = request.replace("HTTP/1.1", "HTTP/1.0");
    let mut talk = RawConnection::to(address).await;
    talk.say_cut(request.as_bytes(), &[request.len() - body.len()]).await;
    hears(&mut talk, 1).await;
    assert!(talk.rest().await.is_empty());
}

#[tokio::test]
async fn a_body_that_nobody_reads_is_never_a_request() {
    let (address, _running) = hosted(Limits::default()).await;
    let inner = kept("GET", "/healthz", &[], "");
    let mut talk = RawConnection::to(address).await;
    // The whole body has arrived, followed by the next request.
    talk.say(kept("POST", "/nothing", &[], &inner) + &kept("GET", "/readyz", &[], "")).await;
    assert_eq!(talk.hear().await.status, 404);
    assert_eq!(talk.hear().await.body, "ready\n");
    // Only a part of the body has arrived.
    let request = kept("POST", "/nothing", &[], &inner);
    let (begin, end) = request.split_at(request.len() - inner.len());
    talk.say(begin).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (404, None));
    talk.say(end.to_owned() + &kept("GET", "/readyz", &[], "")).await;
    assert_eq!(talk.hear().await.body, "ready\n");
}

#[tokio::test]
async fn a_refusal_keeps_the_connection_where_the_rest_of_the_body_is_short() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let (_, body) = list(1);
    let wrong = ("content-type", "text/plain");
    let chunks = "5\r\nhello\r\n0\r\nx: y\r\n\r\n";
    let long = "x".repeat(64 * 1024);
    for (headers, body) in [
        (vec![wrong], body.as_str()),
        (vec![wrong, ("transfer-encoding", "chunked")], chunks),
        (vec![wrong], &long),
    ] {
        let chunked = headers.len() > 1;
        let request = kept("POST", "/mcp", &headers, if chunked { "" } else { body });
        let request = if chunked { request + body } else { request };
        let head = request.len() - body.len();
        for cut in [head, head + 1, head + 6] {
            talk.say(&request[..cut]).await;
            let heard = talk.hear().await;
            assert_eq!((heard.status, heard.header("connection")), (415, None), "{cut}");
            talk.say(&request.as_bytes()[cut..]).await;
            talk.say(measured(7)).await;
            hears(&mut talk, 7).await;
        }
    }
}

#[tokio::test]
async fn a_refusal_closes_the_connection_where_the_rest_of_the_body_is_long_or_wrong() {
    let (address, _running) = hosted(Limits::default()).await;
    let wrong = ("content-type", "text/plain");
    let mut talk = RawConnection::to(address).await;
    let long = "x".repeat(64 * 1024 + 1);
    let request = kept("POST", "/mcp", &[wrong], &long);
    talk.say(&request[..request.len() - long.len()]).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (415, Some("close")));
    assert!(talk.rest().await.is_empty());
    let inner = kept("GET", "/healthz", &[], "");
    let chunks = format!("{:x}\r\n{long}\r\n0\r\n\r\n{inner}", long.len());
    for chunks in [chunks, format!("x\r\n{inner}"), format!("1\r\n{inner}")] {
        let mut talk = RawConnection::to(address).await;
        talk.say(kept("POST", "/mcp", &[wrong, ("transfer-encoding", "chunked")], "")).await;
        assert_eq!(talk.hear().await.status, 415);
        talk.say(chunks).await;
        assert!(talk.rest().await.is_empty());
    }
}

#[tokio::test]
async fn h06_a_chunk_that_is_said_to_be_too_long_is_refused_before_it_comes() {
    let limits = Limits { body: 1000, body_timeout: HANG * 10, ..Limits::default() };
    let (address, _running) = hosted(limits).await;
    let (headers, _) = list(1);
    let head = kept("POST", "/mcp", &[headers, vec![("transfer-encoding", "chunked")]].concat(), "");
    let some = format!("258\r\n{}\r\n191\r\n ", " ".repeat(600));
    for chunks in ["3e9\r\n", "ffffffffffffffff\r\n", &some] {
        for cuts in [vec![], vec![head.len()], vec![head.len(), head.len() + 4]] {
            let mut talk = RawConnection::to(address).await;
            talk.say_cut((head.clone() + chunks).as_bytes(), &cuts).await;
            let heard = talk.hear().await;
            assert_eq!(
                (heard.status, heard.header("connection").as_deref()),
                (413, Some("close")),
                "{heard:?}"
            );
        }
    }
}

/// Sends a body above the limit, and only then reads the response.
async fn too_much(address: SocketAddr, request: Vec<u8>) -> u16 {
    let mut talk = RawConnection::to(address).await;
    talk.say(request).await;
    let heard = talk.hear().await;
    assert_eq!(heard.header("connection").as_deref(), Some("close"));
    assert!(talk.rest().await.is_empty());
    heard.status
}

#[tokio::test]
async fn h06_whoever_sends_too_much_hears_that_it_was_too_much() {
    let (address, _running) = hosted(Limits { body: 1000, ..Limits::default() }).await;
    let (headers, _) = list(1);
    let long = " ".repeat(500_000);
    assert_eq!(too_much(address, kept("POST", "/mcp", &headers, &long).into_bytes()).await, 413);
    let head = kept("POST", "/mcp", &[headers, vec![("transfer-encoding", "chunked")]].concat(), "");
    let chunks = "3e8\r\n".to_owned() + &" ".repeat(1000) + "\r\n" + "1\r\n \r\n" + &long;
    assert_eq!(too_much(address, (head + &chunks).into_bytes()).await, 413);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_told_to_who_still_listens() {
    let (address, _running) = hosted(Limits::default()).await;
    let request = measured(1);
    let mut talk = RawConnection::to(address).await;
    talk.say(&request[..request.len() - 1]).await;
    talk.half_close().await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (400, Some("close")), "{heard:?}");
    assert!(talk.rest().await.is_empty());
}

#[tokio::test]
async fn h07_a_body_that_takes_too_long_is_refused_and_its_connection_closed() {
    let limits = Limits { body_timeout: Duration::from_millis(200), ..Limits::default() };
    let (address, _running) = hosted(limits).await;
    let request = chunked(1, &[3]);
    let mut talk = RawConnection::to(address).await;
    talk.say(&request[..request.len() - 1]).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (408, Some("close")), "{heard:?}");
    assert!(talk.rest().await.is_empty());
}

#[tokio::test]
async fn a_body_on_a_get_is_passed_over() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    talk.say(kept("GET", "/healthz", &[], &modern("tools/list", "")) + &kept("GET", "/readyz", &[], ""))
        .await;
    assert_eq!(talk.hear().await.body, "ok\n");
    assert_eq!(talk.hear().await.body, "ready\n");
    talk.say(format!("GET /healthz HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: 0\r\n\r\n")).await;
    assert_eq!(talk.hear().await.body, "ok\n");
}
