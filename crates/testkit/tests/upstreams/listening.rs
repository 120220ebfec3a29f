//! `subscriptions/listen` of a modern client to a legacy server.

use crate::{
    faults::{process_peer, run},
    support::*,
};
use serde_json::{Value, json};
use trunkline_gateway::upstream::UpstreamOptions;
use trunkline_protocol::{Call, Handler, Notification, Part, Reply, message::meta};
use trunkline_testkit::script::ProcessLine;

/// Plays the handshake of a server with tasks.
async fn greet(line: &mut ProcessLine) {
    let asked = line.expect("initialize").await;
    let introduction = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
        "serverInfo": {"name": "scripted", "version": "1"},
    });
    line.answer(&asked, introduction).await;
    line.expect("notifications/initialized").await;
}

fn listen(capabilities: Value) -> Call {
    let params = json!({"notifications": {"taskIds": ["mine"]}}).into();
    let params = meta::set(Some(&params), [(meta::CLIENT_CAPABILITIES, capabilities.into())]).unwrap();
    Call::new("subscriptions/listen", Some(params))
}

async fn next_notification(reply: &mut Reply) -> Notification {
    match reply.next().await {
        Some(Part::Notification(notification)) => notification,
        other => panic!("{other:?}"),
    }
}

fn params(notification: &Notification) -> Value {
    notification.params.as_ref().unwrap().decode().unwrap()
}

#[test]
fn the_status_of_a_legacy_task_is_told_as_its_whole_state() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("working", &peer, UpstreamOptions::default());
        let mut line = peer.accept().await;
        greet(&mut line).await;
        answer_list(&mut line).await;
        ready(&upstream).await;
        // This capability is not declared to a legacy server, so the existing session is used.
        let follows = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let mut listening = upstream.call(listen(follows));
        let acknowledged = next_notification(&mut listening).await;
        assert_eq!(acknowledged.method, "notifications/subscriptions/acknowledged");
        assert_eq!(params(&acknowledged)["notifications"], json!({"taskIds": ["mine"]}));
        let server = async {
            for (id, status) in [("other", "working"), ("mine", "completed")] {
                let params = json!({"taskId": id, "status": status});
                let notification =
                    json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": params});
                line.say(notification.to_string()).await;
            }
            let asked = line.expect("tasks/get").await;
            assert_eq!(asked.params["taskId"], "mine");
            line.answer(&asked, json!({"taskId": "mine", "status": "completed", "ttl": 9, "x": 1})).await;
            let asked = line.expect("tasks/result").await;
            line.answer(&asked, json!({"content": [], "isError": true})).await;
        };
        let (changed, ()) = tokio::join!(next_notification(&mut listening), server);
        assert_eq!(changed.method, "notifications/tasks");
        let want = json!({
            "taskId": "mine", "status": "completed", "ttlMs": 9, "x": 1,
            "result": {"content": [], "isError": true, "resultType": "complete"},
        });
        assert_eq!(params(&changed), want);
        drop(listening);
        upstream.stop().await;
    });
}

#[test]
fn who_does_not_follow_tasks_is_told_nothing_of_them() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("working", &peer, UpstreamOptions::default());
        let mut own = peer.accept().await;
        greet(&mut own).await;
        answer_list(&mut own).await;
        ready(&upstream).await;
        let mut listening = upstream.call(listen(json!({})));
        let acknowledged = next_notification(&mut listening).await;
        assert_eq!(params(&acknowledged)["notifications"], json!({}));
        upstream.stop().await;
    });
}
