//! Tasks of both kinds, seen by clients of the other era.

use crate::{host::Answering, questions::text_of, site::Cell};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use trunkline_client::Carrier;
use trunkline_protocol::{Era, Raw, message::TaskStatus};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_2025_11_25_runs_a_call_as_a_task_and_answers_its_questions() {
    for cell in Cell::all().filter(|cell| cell.client.era() == Era::Legacy) {
        let site = cell.site();
        let host = Arc::new(Answering::default());
        let client = site.client(cell.client, host.clone()).await;
        assert!(client.has_capability("tasks.requests.tools.call"), "{cell:?}");
        let arguments = Raw::from(json!({"filename": "x"})).object().unwrap();
        let call = client.call("confirm_delete", arguments).as_task(Some(Duration::from_mins(1)));
        let result = call.await.unwrap_or_else(|fault| panic!("{cell:?}: {fault}"));
        assert!(text_of(&result).contains("x was") || result.failed(), "{cell:?}: {result:?}");
        assert_eq!(host.asked().len(), 1, "{cell:?}");
        // A tool that returns immediately becomes a completed task.
        let arguments = Raw::from(json!({"name": "Ada"})).object().unwrap();
        let result = client.call("greet", arguments).as_task(None).await.unwrap();
        assert_eq!(text_of(&result), "Hello, Ada!", "{cell:?}");
        // Over HTTP, local clients are indistinguishable, so none may list the tasks of another.
        if client.has_capability("tasks.list") {
            let tasks = client.tasks().await.unwrap();
            assert_eq!(tasks.len(), 2, "{cell:?}: {tasks:?}");
            assert!(tasks.iter().all(|task| task.status.is_final()), "{cell:?}: {tasks:?}");
        } else {
            assert_eq!(client.server().transport, Carrier::StreamableHttp, "{cell:?}");
            assert_eq!(client.tasks().await.unwrap_err().original_mcp_code(), Some(-32601), "{cell:?}");
        }
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s05_a_task_of_another_client_does_not_exist() {
    let cell = Cell::all().find(|cell| cell.client.era() == Era::Legacy).unwrap();
    let site = cell.site();
    let client = site.client(cell.client, Arc::new(Answering::default())).await;
    assert!(client.task("nobody's").await.is_err());
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_follows_the_tasks_of_a_legacy_server() {
    for cell in Cell::all().filter(|cell| cell.client.era() == Era::Modern) {
        let site = cell.site();
        let host = Arc::new(Answering::default());
        let client = site.client(cell.client, host.clone()).await;
        let arguments = Raw::from(json!({"seconds": 0})).object().unwrap();
        let result = client.call("slow_compute", arguments).await.unwrap();
        assert_eq!(text_of(&result), "It took 0 s", "{cell:?}");
        let failed = client.call("failing_job", trunkline_protocol::Object::new()).await.unwrap();
        assert!(failed.failed(), "{cell:?}");
        assert!(TaskStatus::Completed.is_final());
        client.close().await;
    }
}
