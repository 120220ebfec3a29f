//! Connection timeouts, and eviction when all slots are taken.

use crate::support::{
    Fixture, hosted, start,
    wire::{HANG, HOST, RawConnection, headers_of, kept, modern},
};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use trunkline_serve::{Guard, Limits, ServeOptions};

const A_MOMENT: Duration = Duration::from_millis(200);

async fn well(talk: &mut RawConnection) {
    talk.say(kept("GET", "/healthz", &[], "")).await;
    assert_eq!(talk.hear().await.body, "ok\n");
}

#[tokio::test]
async fn h08_a_connection_that_rests_gives_way_the_one_that_rests_longest_first() {
    let (address, _running) = hosted(Limits { connections: 2, ..Limits::default() }).await;
    let (mut first, mut second) = (RawConnection::to(address).await, RawConnection::to(address).await);
    well(&mut first).await;
    well(&mut second).await;
    let mut third = RawConnection::to(address).await;
    well(&mut third).await;
    assert!(first.rest().await.is_empty());
    well(&mut second).await;
    // Busy keep-alive connections must not keep new ones out.
    for _ in 0..20 {
        let mut other = RawConnection::to(address).await;
        well(&mut other).await;
        well(&mut other).await;
    }
}

#[tokio::test]
async fn h08_a_connection_with_a_request_under_way_is_left_alone() {
    let (fixture, _told) = Fixture::new();
    let guard = Guard { hosts: vec![HOST.to_owned()], ..Guard::default() };
    let limits = Limits { connections: 1, ..Limits::default() };
    let (address, _running, _server) =
        start(fixture.clone(), ServeOptions { guard, limits, ..ServeOptions::default() }).await;
    let mut busy = RawConnection::to(address).await;
    let mut headers = headers_of("tools/call", "wait");
    headers.push(("content-type", "application/json"));
    busy.say(kept("POST", "/mcp", &headers, &modern("tools/call", r#""name":"wait""#))).await;
    while fixture.changes.receiver_count() < 2 {
        tokio::task::yield_now().await;
    }
    let mut other = RawConnection::to(address).await;
    other.say(kept("GET", "/healthz", &[], "")).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    fixture.changes.send("notifications/tools/list_changed").unwrap();
    let heard = busy.hear().await;
    assert!(heard.status == 200 && heard.body.contains("waited"), "{heard:?}");
    assert_eq!(other.hear().await.body, "ok\n");
    assert!(busy.rest().await.is_empty());
}

#[tokio::test]
async fn h08_a_connection_rests_longer_than_a_head_may_take_and_not_for_ever() {
    let (address, _running) = hosted(Limits { header_timeout: A_MOMENT, ..Limits::default() }).await;
    let mut talk = RawConnection::to(address).await;
    well(&mut talk).await;
    tokio::time::sleep(A_MOMENT * 3).await;
    well(&mut talk).await;
    talk.say("GET /healthz HT").await;
    assert_eq!(talk.hear().await.status, 408);
    let (address, _running) = hosted(Limits { idle_timeout: A_MOMENT, ..Limits::default() }).await;
    let mut talk = RawConnection::to(address).await;
    well(&mut talk).await;
    assert!(talk.rest().await.is_empty());
}

#[tokio::test]
async fn h08_empty_lines_in_pieces_hold_no_place() {
    let (address, _running) = hosted(Limits { header_timeout: A_MOMENT, ..Limits::default() }).await;
    let (mut reading, mut writing) = TcpStream::connect(address).await.unwrap().into_split();
    let pieces = async {
        for piece in [b"\r", b"\n"].iter().cycle() {
            if writing.write_all(*piece).await.is_err() {
                break;
            }
            tokio::time::sleep(A_MOMENT / 8).await;
        }
    };
    let mut heard = Vec::new();
    let end = tokio::time::timeout(HANG, reading.read_to_end(&mut heard));
    tokio::select! {
        end = end => assert!(end.is_ok(), "a byte at a time holds the place"),
        () = pieces => {}
    }
}
