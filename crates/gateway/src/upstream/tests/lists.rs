//! Reading of lists: pages, limits, changes.

use super::{
    super::*,
    fake::{Fake, call_as, tool, until, until_listed},
};
use serde_json::json;
use std::{sync::atomic::Ordering, time::Duration};
use trunkline_protocol::Handler;

fn with_lists(lists: ListOptions) -> UpstreamOptions {
    UpstreamOptions { lists, ..UpstreamOptions::default() }
}

#[tokio::test(start_paused = true)]
async fn pages_are_followed_to_the_end() {
    let fake = Fake::legacy();
    *fake.tools.lock().unwrap() = (0..95).map(|n| tool(&format!("t{n}"))).collect();
    fake.pages.store(10, Ordering::SeqCst);
    let upstream = fake.upstream(UpstreamOptions::default());
    let offer = until_listed(&upstream).await;
    assert_eq!(offer.tools.len(), 95);
    assert_eq!(offer.tools[94].member_as::<String>("name").unwrap(), "t94");
    assert_eq!(fake.lists_read.load(Ordering::SeqCst), 10);
}

#[tokio::test(start_paused = true)]
async fn u10_endless_lists_are_cut_and_what_was_read_is_served() {
    for (lists, why) in [
        (ListOptions { pages: 7, ..ListOptions::default() }, "the list has more than 7 pages"),
        (ListOptions { items: 30, ..ListOptions::default() }, "the list has more than 30 items"),
        (ListOptions { bytes: 3000, ..ListOptions::default() }, "the list is larger than 3000 bytes"),
    ] {
        let fake = Fake::legacy();
        *fake.tools.lock().unwrap() = (0..100).map(|n| tool(&format!("t{n}"))).collect();
        fake.pages.store(20, Ordering::SeqCst);
        let upstream = fake.upstream(with_lists(lists));
        let offer = until_listed(&upstream).await;
        assert!((30..=60).contains(&offer.tools.len()), "{} {why}", offer.tools.len());
        assert_eq!(upstream.status().lists[0].warning.as_deref(), Some(why));
    }
}

#[tokio::test(start_paused = true)]
async fn u10_broken_items_are_set_aside_and_the_rest_is_served() {
    let fake = Fake::legacy();
    *fake.tools.lock().unwrap() = vec![
        tool("good"),
        json!(7),
        json!({"name": "", "inputSchema": {}}),
        json!({"name": "null-schema", "inputSchema": null}),
        json!({"name": "long", "inputSchema": {}, "description": "x".repeat(1_000_001)}),
        tool("good"),
        tool("better"),
    ];
    let upstream = fake.upstream(UpstreamOptions::default());
    let offer = until_listed(&upstream).await;
    assert_eq!(offer.tools.len(), 2);
    let reported: Vec<_> =
        upstream.status().quarantined.into_iter().map(|q| (q.index, q.name, q.reason)).collect();
    assert_eq!(reported.len(), 5);
    assert_eq!(reported[0], (1, None, "it is not an object".to_owned()));
    assert_eq!(reported[4], (5, Some("good".to_owned()), "it is listed twice".to_owned()));
    assert_eq!(upstream.status().lists[0].quarantined, 5);
    serde_json::to_string(&upstream.status()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn u10_ten_thousand_tools_fit() {
    let fake = Fake::legacy();
    *fake.tools.lock().unwrap() = (0..10_000).map(|n| tool(&format!("t{n}"))).collect();
    fake.pages.store(100, Ordering::SeqCst);
    let upstream = fake.upstream(UpstreamOptions::default());
    assert_eq!(until_listed(&upstream).await.tools.len(), 10_000);
    assert_eq!(upstream.status().lists[0].warning, None);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_read_soon_and_a_storm_of_them_seldom() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    fake.tools.lock().unwrap().push(tool("new"));
    fake.session(0).say("notifications/tools/list_changed");
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(upstream.offer().unwrap().tools.len(), 2);

    let before = fake.lists_read.load(Ordering::SeqCst);
    for _ in 0..10_000 {
        fake.session(0).say("notifications/tools/list_changed");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let read = fake.lists_read.load(Ordering::SeqCst) - before;
    assert!((2..=12).contains(&read), "u05: ten seconds of announcements without changes: {read}");
}

#[tokio::test(start_paused = true)]
async fn a_change_is_read_soon_after_lists_expired_unchanged_and_after_announcements_without_change() {
    for (ttl, announcements) in [(Some(1000), 0), (None, 10)] {
        let fake = Fake::legacy();
        *fake.ttl.lock().unwrap() = ttl;
        let upstream = fake.upstream(UpstreamOptions::default());
        until_listed(&upstream).await;
        for _ in 0..announcements {
            fake.session(0).say("notifications/tools/list_changed");
            tokio::time::sleep(Duration::from_secs(6)).await;
        }
        tokio::time::sleep(Duration::from_millis(20_500)).await;
        fake.tools.lock().unwrap().push(tool("new"));
        fake.session(0).say("notifications/tools/list_changed");
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(upstream.offer().unwrap().tools.len(), 2, "ttl {ttl:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_during_a_reading_is_read_once_more() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    for round in 0..5 {
        fake.tools.lock().unwrap().push(tool(&format!("n{round}")));
        fake.session(0).say("notifications/tools/list_changed");
        tokio::time::sleep(Duration::from_millis(100)).await;
        fake.session(0).say("notifications/tools/list_changed");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(upstream.offer().unwrap().tools.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn lists_are_read_again_after_a_restart_and_when_they_expire() {
    let fake = Fake::legacy();
    *fake.ttl.lock().unwrap() = Some(60_000);
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    fake.tools.lock().unwrap().push(tool("new"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(upstream.offer().unwrap().tools.len(), 1);
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(upstream.offer().unwrap().tools.len(), 2);
    fake.tools.lock().unwrap().clear();
    fake.session(0).kill();
    until(&upstream, |status| status.state == State::Lost).await;
    assert_eq!(until_listed(&upstream).await.tools.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_is_tried_again_and_the_old_one_kept() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    fake.list_fails.store(true, Ordering::SeqCst);
    fake.session(0).say("notifications/tools/list_changed");
    let status = until(&upstream, |status| status.lists[0].warning.is_some()).await;
    assert_eq!((status.lists[0].items, status.state), (Some(1), State::Ready));
    fake.list_fails.store(false, Ordering::SeqCst);
    until(&upstream, |status| status.lists[0].warning.is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_declared_is_not_asked_for() {
    let fake = Fake::legacy();
    *fake.capabilities.lock().unwrap() = json!({});
    let upstream = fake.upstream(UpstreamOptions::default());
    assert_eq!(until_listed(&upstream).await.tools.len(), 0);
    assert_eq!(fake.lists_read.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_expires_while_it_cannot_be_read_is_asked_for_with_pauses() {
    let fake = Fake::legacy();
    *fake.ttl.lock().unwrap() = Some(60_000);
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    fake.list_fails.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_hours(1)).await;
    let read = fake.lists_read.load(Ordering::SeqCst);
    assert!((120..=260).contains(&read), "{read}");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_failed_is_read_again_although_callers_come_and_go() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    fake.list_fails.store(true, Ordering::SeqCst);
    fake.session(0).say("notifications/tools/list_changed");
    until(&upstream, |status| status.lists[0].warning.is_some()).await;
    for who in ["a", "b"] {
        let outcome = upstream.call(call_as(who, &json!({"roots": {}}), "echo")).outcome().await;
        outcome.unwrap();
    }
    fake.list_fails.store(false, Ordering::SeqCst);
    until(&upstream, |status| status.lists[0].warning.is_none()).await;
}
