//! Tasks: S05, and both forms of task results.

use super::{
    Client,
    fake::{Fake, Lists},
    gateway, raw,
};
use crate::{
    catalog::Rules,
    policy::{FilterRules, PolicyRules},
};
use futures_util::stream;
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_protocol::{
    Call, Era, Notification, Part, Reply, Revision,
    message::{TASKS_EXTENSION, meta::CLIENT_CAPABILITIES},
    method::*,
};

/// A server whose tools start the task `t1`, in the extension's form or in that of 2025-11-25.
fn tasking(name: &str, nested: bool) -> Arc<Fake> {
    let capabilities = if nested {
        json!({"tools": {}, "tasks": {"list": {}}})
    } else {
        json!({"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
    };
    Fake::new(name, Lists { capabilities, ..Lists::tools(&["long", "other"]) }).answers(move |call: &Call| {
        let result = match call.method.as_ref() {
            TOOLS_CALL if nested => r#"{"task":{"taskId":"t1","status":"working","ttl":1.0},"x":1.50}"#,
            TOOLS_CALL => r#"{"resultType":"task","taskId":"t1","status":"working","ttlMs":1.0,"x":1.50}"#,
            TASKS_LIST => r#"{"tasks":[{"taskId":"t1","status":"working","k":1.0},{"taskId":"somebody-elses","status":"working"}]}"#,
            TASKS_RESULT => r#"{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1","k":1.0}}}"#,
            _ => {
                let id = call.params.as_ref().unwrap().member("taskId").unwrap();
                return Reply::ready(Ok(raw(&format!(r#"{{"taskId":{id},"status":"working","k":1.0}}"#))));
            }
        };
        Reply::ready(Ok(raw(result)))
    })
}

#[tokio::test]
async fn s05_a_task_is_reached_by_whoever_started_it_and_nobody_else() {
    for nested in [false, true] {
        let (a, b) = (tasking("a", nested), tasking("b", nested));
        let gateway = gateway(&[&a, &b], Rules::default());
        let (alice, bob) = (Client::named("alice", &[]), Client::named("bob", &[]));
        let started = alice.ask(&gateway, TOOLS_CALL, json!({"name": "a_long"})).await.unwrap();
        let id: String = if nested {
            started.member("task").unwrap().member_as("taskId")
        } else {
            started.member_as("taskId")
        }
        .unwrap();
        assert_ne!(id, "t1");
        assert!(started.as_str().replace(&id, "t1").contains("1.50"), "{started}");
        for method in [TASKS_GET, TASKS_UPDATE, TASKS_CANCEL] {
            let state =
                alice.ask(&gateway, method, json!({"taskId": id, "inputResponses": {}})).await.unwrap();
            assert_eq!(state.as_str(), format!(r#"{{"taskId":"{id}","status":"working","k":1.0}}"#));
            assert_eq!(
                a.calls().pop().unwrap().params.unwrap().as_str(),
                r#"{"taskId":"t1","inputResponses":{}}"#
            );
            for (asking, id) in [(&bob, id.as_str()), (&alice, "t1"), (&alice, &id[1..]), (&bob, "")] {
                let error = asking
                    .ask(&gateway, method, json!({"taskId": id}))
                    .await
                    .unwrap_err()
                    .to_error(Era::Modern);
                assert_eq!(error.code, -32602);
            }
        }
        let at_b = Client::named("alice", &[]).at("server/b");
        assert!(
            at_b.ask(&gateway, TASKS_GET, json!({"taskId": id})).await.is_err(),
            "S04: another server's view"
        );
        assert!(
            Client::named("alice", &[])
                .at("server/a")
                .ask(&gateway, TASKS_GET, json!({"taskId": id}))
                .await
                .is_ok()
        );
        let [alice, bob] =
            ["alice", "bob"].map(|name| Client::named(name, &[]).speaking(Revision::NEWEST_LEGACY));
        let result: Value =
            alice.ask(&gateway, TASKS_RESULT, json!({"taskId": id})).await.unwrap().decode().unwrap();
        assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], json!({"taskId": id, "k": 1.0}));
        let all: Value = alice.ask(&gateway, TASKS_LIST, json!({})).await.unwrap().decode().unwrap();
        assert_eq!(
            all,
            json!({"tasks": [{"taskId": id, "status": "working", "k": 1.0}]}),
            "each its own, and only here"
        );
        let none: Value = bob.ask(&gateway, TASKS_LIST, json!({})).await.unwrap().decode().unwrap();
        assert_eq!(none, json!({"tasks": []}));
        assert!(b.calls().iter().all(|call| call.method == TASKS_LIST));
    }
}

#[tokio::test]
async fn a_task_of_a_tool_that_is_denied_meanwhile_is_gone() {
    let a = tasking("a", false);
    let gateway = gateway(&[&a], Rules::default());
    let alice = Client::named("alice", &[]);
    let started = alice.ask(&gateway, TOOLS_CALL, json!({"name": "a_long"})).await.unwrap();
    let id: String = started.member_as("taskId").unwrap();
    let deny = |name: &str| {
        let otherwise = Some(FilterRules { allow: None, deny: vec![name.to_owned()] }.into());
        Rules { policy: PolicyRules { otherwise, ..PolicyRules::default() }, ..Rules::default() }
    };
    gateway.replace(&deny("a_other"), super::sources(&[&a])).unwrap();
    assert!(alice.ask(&gateway, TASKS_GET, json!({"taskId": id})).await.is_ok());
    gateway.replace(&deny("a_long"), super::sources(&[&a])).unwrap();
    assert!(alice.ask(&gateway, TASKS_GET, json!({"taskId": id})).await.is_err());
}

#[tokio::test]
async fn news_of_a_task_within_a_call_names_it_as_the_answer_does() {
    let capabilities = json!({"tools": {}, "tasks": {}});
    let a = Fake::new("a", Lists { capabilities, ..Lists::tools(&["long"]) }).answers(|_| {
        let status = Notification::new(TASK_STATUS, Some(raw(r#"{"taskId":"t1","status":"working"}"#)));
        let related = r#"{"progressToken":1,"progress":1,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}"#;
        let progress = Notification::new(PROGRESS, Some(raw(related)));
        let last = Part::Final(Ok(raw(r#"{"task":{"taskId":"t1","status":"working"}}"#)));
        Reply::new(stream::iter([Part::Notification(status), Part::Notification(progress), last]))
    });
    let gateway = gateway(&[&a], Rules::default());
    let mut reply = Client::named("alice", &[]).start(&gateway, TOOLS_CALL, &json!({"name": "a_long"}));
    let mut ids = Vec::new();
    while let Some(part) = reply.next().await {
        let text = match part {
            Part::Notification(notification) => notification.params.unwrap(),
            Part::Final(result) => result.unwrap(),
            other => panic!("{other:?}"),
        };
        ids.push(text.as_str().split("\"taskId\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned());
    }
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0] && id != "t1"), "{ids:?}");
}

#[tokio::test]
async fn where_nobody_makes_tasks_there_are_no_task_methods() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let gateway = gateway(&[&a], Rules::default());
    let legacy = Client::named("x", &[]).speaking(Revision::NEWEST_LEGACY);
    let error = legacy.ask(&gateway, TASKS_LIST, json!({})).await.unwrap_err().to_error(Era::Modern);
    assert_eq!(error.code, -32601);
}

#[tokio::test]
async fn what_went_with_2025_11_25_is_no_method_of_a_modern_client() {
    let a = tasking("a", false);
    let gateway = gateway(&[&a], Rules::default());
    let alice = Client::named("alice", &[]);
    let started = alice.ask(&gateway, TOOLS_CALL, json!({"name": "a_long"})).await.unwrap();
    let id: String = started.member_as("taskId").unwrap();
    for (method, params) in
        [(TASKS_RESULT, json!({"taskId": id})), (TASKS_RESULT, json!({})), (TASKS_LIST, json!({}))]
    {
        let error = alice.ask(&gateway, method, params).await.unwrap_err().to_error(Era::Modern);
        assert_eq!(error.code, -32601, "{method}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_follow_tasks_is_told_that_it_would_have_to() {
    let a = tasking("a", false);
    let gateway = gateway(&[&a], Rules::default());
    let alice = Client::named("alice", &[]);
    let code = async |extensions: Value| {
        let meta = json!({CLIENT_CAPABILITIES: {"extensions": extensions}});
        let asked = alice.ask(&gateway, TASKS_GET, json!({"taskId": "t1", "_meta": meta})).await;
        asked.unwrap_err().to_error(Era::Modern).code
    };
    assert_eq!(code(json!({})).await, -32021);
    assert_eq!(code(json!({TASKS_EXTENSION: {}})).await, -32602);
}
