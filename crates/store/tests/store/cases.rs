//! The behaviour that every store has.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures_util::future::join_all;
use trunkline_store::{Condition, MAX_VALUE, Outcome, Retention, Store, StoreError};

use crate::support::{HOUR, KEPT, over_all, text, write};

#[tokio::test]
async fn a_value_is_read_back_replaced_and_removed() {
    over_all(async |store: Arc<dyn Store>| {
        assert_eq!(text(&*store, "a").await, None);
        write(&*store, "a", "one").await;
        write(&*store, "a", "two").await;
        assert_eq!(text(&*store, "a").await.as_deref(), Some("two"));
        assert!(matches!(store.remove("a", Condition::Always).await.unwrap(), Outcome::Done(_)));
        assert_eq!(text(&*store, "a").await, None);
        assert!(matches!(store.remove("a", Condition::Always).await.unwrap(), Outcome::Done(_)));
    })
    .await;
}

#[tokio::test]
async fn a_condition_decides_whether_a_change_is_made() {
    over_all(async |store: Arc<dyn Store>| {
        let put = |condition| store.put("a", "new".into(), condition, None);
        let first = put(Condition::Absent).await.unwrap();
        let Outcome::Done(first) = first else { panic!("the key was free") };
        assert_eq!(put(Condition::Absent).await.unwrap(), Outcome::Conflict);
        let Outcome::Done(second) = put(Condition::Unchanged(first)).await.unwrap() else {
            panic!("nobody changed it")
        };
        assert_eq!(put(Condition::Unchanged(first)).await.unwrap(), Outcome::Conflict);
        assert_eq!(store.remove("a", Condition::Unchanged(first)).await.unwrap(), Outcome::Conflict);
        assert_eq!(store.remove("a", Condition::Unchanged(second)).await.unwrap(), Outcome::Done(second));
        assert_eq!(put(Condition::Unchanged(second)).await.unwrap(), Outcome::Conflict);
    })
    .await;
}

#[tokio::test]
async fn of_many_writers_with_one_version_one_wins() {
    over_all(async |store: Arc<dyn Store>| {
        let seen = write(&*store, "a", "start").await;
        let writers = (0..50).map(|writer| {
            let store = &store;
            async move {
                store.put("a", format!("{writer}").into(), Condition::Unchanged(seen), None).await.unwrap()
            }
        });
        let won = join_all(writers).await.into_iter().filter(|outcome| *outcome != Outcome::Conflict).count();
        assert_eq!(won, 1);
    })
    .await;
}

#[tokio::test]
async fn keys_are_listed_by_prefix_in_pages() {
    over_all(async |store: Arc<dyn Store>| {
        for key in ["b/2", "a/1", "b/1", "b/3", "b", "c/1", "b/\u{fc}"] {
            write(&*store, key, key).await;
        }
        let page = async |after: &str| -> Vec<String> {
            store.list("b/", after, 2).await.unwrap().into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(page("").await, ["b/1", "b/2"]);
        assert_eq!(page("b/2").await, ["b/3", "b/\u{fc}"]);
        assert!(page("b/\u{fc}").await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn what_expired_is_gone_and_is_not_listed() {
    over_all(async |store: Arc<dyn Store>| {
        let brief = Some(Duration::from_millis(1));
        store.put("k/brief", "x".into(), Condition::Always, brief).await.unwrap();
        write(&*store, "k/long", "x").await;
        store
            .append("log", "x".into(), Retention { lifetime: Duration::from_millis(1), events: 9 })
            .await
            .unwrap();
        store.add("count", 5, Duration::from_millis(1)).await.unwrap();
        while store.get("k/brief").await.unwrap().is_some() {}
        while !store.events("log", 0, 9).await.unwrap().is_empty() {}
        let listed = store.list("k/", "", 9).await.unwrap();
        assert_eq!(listed.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), ["k/long"]);
        assert_eq!(store.append("log", "y".into(), KEPT).await.unwrap(), 1, "an expired log begins anew");
        let put = store.put("k/brief", "y".into(), Condition::Absent, None).await.unwrap();
        assert_ne!(put, Outcome::Conflict);
        // Until it has expired, adding nothing returns the old count.
        while store.add("count", 0, HOUR).await.unwrap() != 0 {}
        assert_eq!(store.add("count", 1, HOUR).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn events_are_numbered_without_gaps_also_by_many_writers() {
    over_all(async |store: Arc<dyn Store>| {
        let appends = (0..100).map(|n| store.append("log", format!("{n}").into(), KEPT));
        let numbers: BTreeSet<u64> = join_all(appends).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(numbers, (1..=100).collect());
        let events = store.events("log", 97, 10).await.unwrap();
        assert_eq!(events.iter().map(|event| event.number).collect::<Vec<_>>(), [98, 99, 100]);
        assert_eq!(store.events("log", 0, 3).await.unwrap().len(), 3);
        assert!(store.events("other", 0, 3).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_log_keeps_only_its_last_events() {
    over_all(async |store: Arc<dyn Store>| {
        let few = Retention { lifetime: HOUR, events: 3 };
        for n in 1..=10_u64 {
            assert_eq!(store.append("log", format!("{n}").into(), few).await.unwrap(), n);
        }
        let events = store.events("log", 0, 100).await.unwrap();
        assert_eq!(events.iter().map(|event| event.number).collect::<Vec<_>>(), [8, 9, 10]);
    })
    .await;
}

#[tokio::test]
async fn followers_see_every_event_once() {
    over_all(async |store: Arc<dyn Store>| {
        let follow = async || {
            let mut seen = Vec::new();
            while seen.len() < 200 {
                let after = seen.last().copied().unwrap_or(0);
                store.appended("log", after).await.unwrap();
                seen.extend(
                    store.events("log", after, 7).await.unwrap().into_iter().map(|event| event.number),
                );
            }
            assert_eq!(seen, (1..=200).collect::<Vec<u64>>());
        };
        let write = async {
            for n in 0..200 {
                store.append("log", format!("{n}").into(), KEPT).await.unwrap();
            }
        };
        tokio::join!(follow(), follow(), write);
    })
    .await;
}

#[tokio::test]
async fn a_counter_counts_what_many_add() {
    over_all(async |store: Arc<dyn Store>| {
        join_all((0..50).map(|_| store.add("count", 2, HOUR))).await;
        assert_eq!(store.add("count", -1, HOUR).await.unwrap(), 99);
    })
    .await;
}

#[tokio::test]
async fn sizes_are_bounded() {
    over_all(async |store: Arc<dyn Store>| {
        let huge = vec![0_u8; MAX_VALUE + 1];
        let refused = store.put("a", huge.into(), Condition::Always, None).await;
        assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
        let refused = store.append(&"n".repeat(513), "x".into(), KEPT).await;
        assert!(matches!(refused, Err(StoreError::Name { given: 513 })));
        let large = vec![7_u8; MAX_VALUE];
        store.put("a", large.clone().into(), Condition::Always, None).await.unwrap();
        assert_eq!(store.get("a").await.unwrap().unwrap().bytes, large);
    })
    .await;
}
