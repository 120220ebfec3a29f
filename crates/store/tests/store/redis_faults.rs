//! Faults of a Redis server: killed, slow, full, a replica for a while.

use std::time::Duration;

use rustix::process::{Signal, kill_process};
use trunkline_store::{Condition, Outcome, Redis, RedisOptions, Store, StoreError};

use crate::{
    redis_server::RedisServer,
    support::{HOUR, KEPT, text, write},
};

fn impatient() -> RedisOptions {
    RedisOptions { timeout: Duration::from_millis(300), ..RedisOptions::default() }
}

fn patient() -> RedisOptions {
    RedisOptions { timeout: Duration::from_mins(1), ..RedisOptions::default() }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let server = RedisServer::start(&[]).await;
    let store = server.store_with(impatient());
    drop(server);
    let failed = store.put("a", "x".into(), Condition::Always, None).await.unwrap_err();
    assert!(matches!(failed, StoreError::Unavailable(_)), "{failed:?}");
}

#[tokio::test]
async fn writes_go_on_after_the_server_was_killed_and_restarted() {
    let server = RedisServer::start(&[]).await;
    let store = server.store_with(patient());
    let before = write(&store, "a", "before").await;
    assert_eq!(store.append("log", "1".into(), KEPT).await.unwrap(), 1);
    let killed = server.kill();
    let again = async { killed.restart().await };
    let change = store.put("a", "after".into(), Condition::Unchanged(before), Some(HOUR));
    let (_server, changed) = tokio::join!(again, change);
    assert_ne!(changed.unwrap(), Outcome::Conflict, "the data was on disk");
    assert_eq!(text(&store, "a").await.as_deref(), Some("after"));
    assert_eq!(store.append("log", "2".into(), KEPT).await.unwrap(), 2);
}

#[tokio::test]
async fn a_follower_hears_of_events_after_a_restart() {
    let server = RedisServer::start(&[]).await;
    let (store, other) = (server.store_with(patient()), server.store_with(patient()));
    store.append("log", "1".into(), KEPT).await.unwrap();
    let appended = async {
        let server = server.kill().restart().await;
        other.append("log", "2".into(), KEPT).await.unwrap();
        server
    };
    let (followed, _server) = tokio::join!(store.appended("log", 1), appended);
    followed.unwrap();
}

#[tokio::test]
async fn a_silent_server_costs_no_more_than_the_limit() {
    let server = RedisServer::start(&[]).await;
    let store = server.store_with(impatient());
    write(&store, "a", "x").await;
    kill_process(server.pid(), Signal::STOP).unwrap();
    let read = store.get("a").await;
    let counted = store.add("count", 1, HOUR).await;
    kill_process(server.pid(), Signal::CONT).unwrap();
    assert!(matches!(read, Err(StoreError::Unknown(_) | StoreError::Unavailable(_))), "{read:?}");
    assert!(matches!(counted, Err(StoreError::Unknown(_))), "it may have been counted: {counted:?}");
    assert_eq!(patiently(&server, "a").await.as_deref(), Some("x"));
}

async fn patiently(server: &RedisServer, key: &str) -> Option<String> {
    text(&server.store_with(patient()), key).await
}

#[tokio::test]
async fn a_full_server_is_said_and_reads_go_on() {
    let server = RedisServer::start(&["--maxmemory", "8mb", "--maxmemory-policy", "noeviction"]).await;
    let store = server.store();
    write(&store, "a", "kept").await;
    let mut refused = None;
    for n in 0..64 {
        let large = vec![0_u8; 1 << 20];
        if let Err(error) = store.put(&format!("large/{n}"), large.into(), Condition::Always, None).await {
            refused = Some(error);
            break;
        }
    }
    assert!(matches!(refused, Some(StoreError::Full(_))), "{refused:?}");
    assert_eq!(text(&store, "a").await.as_deref(), Some("kept"));
}

#[tokio::test]
async fn a_replica_takes_writes_when_it_is_promoted() {
    let (primary, replica) = (RedisServer::start(&[]).await, RedisServer::start(&[]).await);
    let port = primary.port.to_string();
    replica.command(&["REPLICAOF", "127.0.0.1", &port]).await;
    let failed = replica.store_with(impatient()).put("a", "x".into(), Condition::Always, None).await;
    assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
    let store = replica.store_with(patient());
    let change = store.put("a", "x".into(), Condition::Always, None);
    let (changed, ()) = tokio::join!(change, replica.command(&["REPLICAOF", "NO", "ONE"]));
    assert_ne!(changed.unwrap(), Outcome::Conflict);
}

#[tokio::test]
async fn two_prefixes_of_one_server_are_two_stores() {
    let server = RedisServer::start(&[]).await;
    let other = RedisOptions { prefix: "other:".to_owned(), ..RedisOptions::default() };
    let (one, two) = (server.store(), server.store_with(other));
    write(&one, "a", "x").await;
    assert_eq!(text(&two, "a").await, None);
}

#[test]
fn an_address_that_is_none_is_refused_and_no_password_is_shown() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    assert!(matches!(Redis::new("http://x", RedisOptions::default()), Err(StoreError::Refused(_))));
    let store = Redis::new("redis://u:hunter2@127.0.0.1:1", RedisOptions::default()).unwrap();
    assert!(!format!("{store:?}").contains("hunter2"));
}
