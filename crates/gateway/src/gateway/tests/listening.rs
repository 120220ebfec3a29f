//! Subscriptions: recipients, restarts, limits (M08), coalescing (U05).

use super::{
    Client, client,
    fake::{Fake, Lists},
    gateway, next_snapshot, raw, with_options,
};
use crate::{
    catalog::Rules,
    policy::{FilterRules, PolicyRules, RoleRules},
};
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use trunkline_protocol::{Fault, FaultKind, Notification, Part, Raw, Reply, method::*};

fn lists() -> Value {
    json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}})
}

async fn next_notification(reply: &mut Reply) -> Notification {
    match reply.next().await {
        Some(Part::Notification(notification)) => notification,
        other => panic!("{other:?}"),
    }
}

async fn acknowledged(reply: &mut Reply) -> Value {
    let first = next_notification(reply).await;
    assert_eq!(first.method, ACKNOWLEDGED);
    first.params.unwrap().member("notifications").unwrap().decode().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_caller_hears_of_the_lists_they_may_see_and_of_no_other() {
    let a = Fake::new("a", Lists::tools(&["read", "write"]));
    let allow = |glob: &str| RoleRules {
        filter: FilterRules { allow: Some(vec![glob.to_owned()]), deny: Vec::new() },
        ..RoleRules::default()
    };
    let roles = [("reader".to_owned(), allow("a_read*")), ("writer".to_owned(), allow("*"))].into();
    let gateway =
        gateway(&[&a], Rules { policy: PolicyRules { roles, ..PolicyRules::default() }, ..Rules::default() });
    let mut reader = Client::named("r", &["reader"]).start(&gateway, LISTEN, &lists());
    let mut writer = Client::named("w", &["writer"]).start(&gateway, LISTEN, &lists());
    let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    assert_eq!(acknowledged(&mut reader).await, all);
    assert_eq!(acknowledged(&mut writer).await, all);
    next_snapshot(&gateway, || a.offers(Lists::tools(&["read", "write", "more"]))).await;
    assert_eq!(next_notification(&mut writer).await.method, TOOLS_CHANGED);
    assert!(reader.next().now_or_never().is_none(), "nothing that the reader can see has changed");
    next_snapshot(&gateway, || {
        a.offers(Lists { prompts: vec![raw(r#"{"name":"read_p"}"#)], ..Lists::tools(&["read2"]) });
    })
    .await;
    assert_eq!(
        [next_notification(&mut reader).await.method, next_notification(&mut reader).await.method],
        [TOOLS_CHANGED, PROMPTS_CHANGED]
    );
    // A reconnect with the same offer is no change.
    let same = || Lists { prompts: vec![raw(r#"{"name":"read_p"}"#)], ..Lists::tools(&["read2"]) };
    next_snapshot(&gateway, || a.offers(Lists { stale: true, ..same() })).await;
    next_snapshot(&gateway, || a.offers(same())).await;
    assert!(reader.next().now_or_never().is_none());
    // Several changes before the next poll become one notification.
    for more in ["read3", "read4", "read5"] {
        next_snapshot(&gateway, || a.offers(Lists::tools(&[more]))).await;
    }
    assert_eq!(
        [next_notification(&mut reader).await.method, next_notification(&mut reader).await.method],
        [TOOLS_CHANGED, PROMPTS_CHANGED]
    );
    assert!(reader.next().now_or_never().is_none());
}

#[tokio::test(start_paused = true)]
async fn where_a_server_is_shown_as_it_is_its_word_of_a_change_passes_though_the_list_is_the_same() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let gateway = gateway(&[&a], Rules::default());
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut alone = client().at("server/a").start(&gateway, LISTEN, &filter);
    let mut all = client().start(&gateway, LISTEN, &filter);
    assert_eq!(next_notification(&mut alone).await.method, ACKNOWLEDGED);
    assert_eq!(next_notification(&mut all).await.method, ACKNOWLEDGED);
    next_snapshot(&gateway, || a.offers(Lists { announced: 1, ..Lists::tools(&["x"]) })).await;
    assert_eq!(next_notification(&mut alone).await.method, TOOLS_CHANGED);
    assert!(alone.next().now_or_never().is_none());
    assert!(all.next().now_or_never().is_none(), "the gateway's own list did not change");
}

#[tokio::test(start_paused = true)]
async fn u05_a_burst_of_changes_makes_one_snapshot() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let gateway = gateway(&[&a], Rules::default());
    for burst in [1, 10_000, 5] {
        let before = gateway.catalog_report().generation;
        let many = || (0..burst).for_each(|n| a.offers(Lists::tools(&[&format!("x{burst}of{n}")])));
        next_snapshot(&gateway, many).await;
        assert_eq!(gateway.catalog_report().generation, before + 1);
        assert_eq!(client().names(&gateway, TOOLS_LIST).await, [format!("a_x{burst}of{}", burst - 1)]);
    }
}

/// A server that acknowledges every subscription and sends the test's notifications.
struct SubscriptionServer {
    fake: Arc<Fake>,
    lines: Arc<Mutex<Vec<mpsc::UnboundedSender<Part>>>>,
}

impl SubscriptionServer {
    fn new(name: &str, lists: Lists) -> Self {
        let lines: Arc<Mutex<Vec<mpsc::UnboundedSender<Part>>>> = Arc::default();
        let opened = Arc::clone(&lines);
        let fake = Fake::new(name, lists).answers(move |call| {
            let agreed = call.params.as_ref().unwrap().member("notifications").unwrap();
            let params = Raw::empty_object().with("notifications", &agreed);
            let (line, parts) = mpsc::unbounded_channel();
            opened.lock().unwrap().push(line);
            let first = stream::iter([Part::Notification(Notification::new(ACKNOWLEDGED, params))]);
            Reply::new(first.chain(stream::unfold(parts, |mut parts| async {
                parts.recv().await.map(|part| (part, parts))
            })))
        });
        Self { fake, lines }
    }

    fn tell(&self, method: &'static str, params: &str) {
        let notification = Notification::new(method, Some(raw(params)));
        self.lines.lock().unwrap().last().unwrap().send(Part::Notification(notification)).unwrap();
    }

    fn hang_up(&self) {
        let fault = Fault::new(FaultKind::ConnectionLost, "gone");
        self.lines.lock().unwrap().last().unwrap().send(Part::Final(Err(fault))).unwrap();
    }

    fn subscriptions(&self) -> usize {
        self.lines.lock().unwrap().len()
    }
}

#[tokio::test(start_paused = true)]
async fn updates_come_from_the_servers_that_own_the_resources_under_their_public_uris() {
    let (a, b) = (
        SubscriptionServer::new("a", Lists::resources(&["file:///x"])),
        SubscriptionServer::new("b", Lists::resources(&["file:///x", "db:y"])),
    );
    let c = Fake::new("c", Lists::resources(&["c:z"]))
        .answers(|_| Reply::ready(Err(Fault::new(FaultKind::NotAvailable, "no"))));
    let gateway = gateway(&[&a.fake, &b.fake, &c], Rules::default());
    let wish = json!(["trunkline:b/file:///x", "db:y", "file:///x", "nowhere:1", "c:z"]);
    let params = json!({"_meta": {"k": 1.5}, "notifications": {"resourceSubscriptions": wish, "toolsListChanged": false}});
    let mut reply = client().start(&gateway, LISTEN, &params);
    // Unknown resources, and those whose server cannot subscribe, are not acknowledged.
    let agreed = json!({"resourceSubscriptions": ["file:///x", "db:y", "trunkline:b/file:///x"]});
    assert_eq!(acknowledged(&mut reply).await, agreed);
    assert_eq!(
        b.fake.calls()[0].params.as_ref().unwrap().as_str(),
        r#"{"_meta":{"k":1.5},"notifications":{"resourceSubscriptions":["db:y","file:///x"]}}"#
    );
    b.tell(RESOURCE_UPDATED, r#"{"uri":"file:///x","k":1.50}"#);
    assert_eq!(
        next_notification(&mut reply).await.params.unwrap().as_str(),
        r#"{"uri":"trunkline:b/file:///x","k":1.50}"#
    );
    b.tell(TOOLS_CHANGED, "{}");
    a.tell(RESOURCE_UPDATED, r#"{"uri":"file:///x"}"#);
    assert_eq!(next_notification(&mut reply).await.params.unwrap().as_str(), r#"{"uri":"file:///x"}"#);
    assert!(reply.next().now_or_never().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_a_server_is_survived_and_what_may_have_changed_is_told() {
    let a = SubscriptionServer::new("a", Lists::resources(&["file:///x", "file:///y"]));
    let gateway = gateway(&[&a.fake], Rules::default());
    let params = json!({"notifications": {"resourceSubscriptions": ["file:///x", "file:///y"]}});
    let mut reply = client().start(&gateway, LISTEN, &params);
    acknowledged(&mut reply).await;
    for round in 2..5 {
        a.hang_up();
        let uris = [next_notification(&mut reply).await, next_notification(&mut reply).await]
            .map(|notification| notification.params.unwrap().member_as::<String>("uri").unwrap());
        assert_eq!((uris, a.subscriptions()), (["file:///x".to_owned(), "file:///y".to_owned()], round));
    }
    a.tell(RESOURCE_UPDATED, r#"{"uri":"file:///y"}"#);
    assert_eq!(next_notification(&mut reply).await.method, RESOURCE_UPDATED);
    drop(reply);
    assert!(
        a.lines.lock().unwrap().last().unwrap().is_closed(),
        "the server's stream ends with the listener's"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_to_agree_does_not_hold_up_the_others() {
    let slow = Fake::new("slow", Lists::resources(&["s:x"])).answers(|_| Reply::new(stream::pending()));
    let quick = SubscriptionServer::new("quick", Lists::resources(&["q:x"]));
    let gateway = gateway(&[&slow, &quick.fake], Rules::default());
    let mut reply = client().start(
        &gateway,
        LISTEN,
        &json!({"notifications": {"resourceSubscriptions": ["q:x", "s:x"]}}),
    );
    assert_eq!(acknowledged(&mut reply).await, json!({"resourceSubscriptions": ["s:x", "q:x"]}));
    quick.tell(RESOURCE_UPDATED, r#"{"uri":"q:x"}"#);
    assert_eq!(next_notification(&mut reply).await.params.unwrap().as_str(), r#"{"uri":"q:x"}"#);
}

#[tokio::test]
async fn m08_subscriptions_are_bounded_by_caller_and_in_all() {
    let a = Fake::new("a", Lists::default());
    let gateway = with_options(&[&a], Rules::default(), |options| {
        options.listeners_per_caller = 2;
        options.listeners = 3;
    });
    let open = async |id: &str| {
        let mut reply = Client::named(id, &[]).start(&gateway, LISTEN, &lists());
        match reply.next().await {
            Some(Part::Notification(_)) => Ok(reply),
            Some(Part::Final(Err(fault))) => Err(fault.kind()),
            other => panic!("{other:?}"),
        }
    };
    let (first, second) = (open("x").await.unwrap(), open("x").await.unwrap());
    assert_eq!(open("x").await.unwrap_err(), FaultKind::Overloaded);
    let third = open("y").await.unwrap();
    assert_eq!(open("y").await.unwrap_err(), FaultKind::Overloaded);
    drop(first);
    assert!(open("y").await.is_ok());
    drop((second, third));
    let many: Vec<String> = (0..1001).map(|n| format!("a:{n}")).collect();
    let mut reply = Client::named("z", &[]).start(
        &gateway,
        LISTEN,
        &json!({"notifications": {"resourceSubscriptions": many}}),
    );
    assert!(
        matches!(reply.next().await, Some(Part::Final(Err(fault))) if fault.kind() == FaultKind::InvalidRequest)
    );
}

#[tokio::test(start_paused = true)]
async fn news_of_a_task_reaches_whoever_started_it() {
    let capabilities = json!({"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let a = SubscriptionServer::new("a", Lists { capabilities, ..Lists::tools(&["long"]) });
    let gateway = gateway(&[&a.fake], Rules::default());
    let id = gateway.inner.shared.ids.seal("alice", "a_long", "t1");
    let wish = json!({"notifications": {"taskIds": [id, "t1"]}});
    let mut bob = Client::named("bob", &[]).start(&gateway, LISTEN, &wish);
    assert_eq!(acknowledged(&mut bob).await, json!({}));
    let mut alice = Client::named("alice", &[]).start(&gateway, LISTEN, &wish);
    assert_eq!(acknowledged(&mut alice).await, json!({"taskIds": [id]}));
    a.tell(TASK_CHANGED, r#"{"taskId":"other","status":"working"}"#);
    a.tell(TASK_CHANGED, r#"{"taskId":"t1","status":"completed","k":1.0}"#);
    assert_eq!(
        next_notification(&mut alice).await.params.unwrap().as_str(),
        format!(r#"{{"taskId":"{id}","status":"completed","k":1.0}}"#)
    );
}

#[tokio::test(start_paused = true)]
async fn asides_reach_the_caller_they_were_meant_for_where_they_are_asked_for() {
    let a = Fake::new("a", Lists::default());
    let gateway = gateway(&[&a], Rules::default());
    let wish = json!({"notifications": {"trunkline/unsolicited": true}});
    let mut alice = Client::named("alice", &[]).start(&gateway, LISTEN, &wish);
    let mut bob = Client::named("bob", &[]).start(&gateway, LISTEN, &wish);
    let mut modern = Client::named("alice", &[]).start(&gateway, LISTEN, &lists());
    assert_eq!(acknowledged(&mut alice).await, json!({"trunkline/unsolicited": true}));
    acknowledged(&mut bob).await;
    acknowledged(&mut modern).await;
    assert!(a.calls().is_empty(), "it is not sent to the server");
    let over = Notification::new(ELICITATION_COMPLETE, Some(raw(r#"{"elicitationId":"e1","k":1.0}"#)));
    a.says(over.clone(), None);
    a.says(Notification::new(TASK_STATUS, Some(raw(r#"{"taskId":"nobodys"}"#))), Some("alice"));
    a.says(over.clone(), Some("alice"));
    assert_eq!(next_notification(&mut alice).await, over);
    assert!(bob.next().now_or_never().is_none() && modern.next().now_or_never().is_none());
    // After a reload the new server is listened to.
    let new = Fake::new("a", Lists::default());
    gateway.replace(&Rules::default(), super::sources(&[&new])).unwrap();
    assert!(alice.next().now_or_never().is_none());
    new.says(over.clone(), Some("alice"));
    assert_eq!(next_notification(&mut alice).await, over);
}
