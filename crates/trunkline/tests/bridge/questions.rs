//! Questions asked in the middle of a call: every kind, in all pairs of eras, over both
//! transports.

use crate::{host::Answering, site::Cell};
use serde_json::json;
use std::sync::{Arc, Mutex};
use trunkline_client::Client;
use trunkline_protocol::{
    Era, Object, Raw,
    message::{CallToolResult, ContentBlock},
    method,
};

/// The kind of question, its method, and the tool's result.
const KINDS: [(&str, &str, &str); 4] = [
    ("form", method::ELICIT, "Ada"),
    ("url", method::ELICIT, "action=accept"),
    ("sampling", method::CREATE_MESSAGE, "a sample"),
    ("roots", method::ROOTS_LIST, "file:///between"),
];

every_cell!(every_kind_reaches_the_client_and_its_answer_the_tool, super::every_kind);
every_cell!(cancelled_while_it_asks, super::cancelled);

async fn every_kind(cell: Cell) {
    let site = cell.site();
    let host = Arc::new(Answering::default());
    let client = site.client(cell.client, host.clone()).await;
    for (kind, asked_by, said) in KINDS {
        let (result, progress) = asks_between(&client, kind).await;
        let text = text_of(&result);
        assert!(text.contains(said), "{kind}: {text}");
        let asked = host.asked();
        assert_eq!(asked.len(), 1, "{kind}: {asked:?}");
        assert_eq!(asked[0].method, asked_by, "{kind}");
        // A parked call has ended for its client, so its earlier progress came with the first
        // response.
        assert_eq!(progress, [1, 3], "{kind}");
        if kind == "url" {
            let id = asked[0].params.as_ref().and_then(|params| params.member("elicitationId"));
            assert_eq!(id.is_some(), cell.client.era() == Era::Legacy);
        }
    }
    client.close().await;
}

/// The caller cancels the call while its question is open.
async fn cancelled(cell: Cell) {
    let site = cell.site();
    let host = Answering::silent();
    let client = site.client(cell.client, host.clone()).await;
    tokio::select! {
        _ = asks_between(&client, "form") => panic!("nobody answered"),
        () = host.is_asked() => {}
    }
    match (cell.client.era(), cell.server) {
        // The server still runs the call, and receives the cancellation.
        (Era::Legacy, Era::Legacy) => until_left_alone(&client, cell).await,
        // For a modern server, or towards a modern client, the question was the response, so there
        // is no call left to cancel. The only possible error is to resume the call.
        _ => assert_eq!(count(&client, "test_answered").await, "0"),
    }
    assert_eq!(host.asked().len(), 1, "it is asked once");
    host.speak_up();
    let (result, _) = asks_between(&client, "form").await;
    assert!(text_of(&result).contains("Ada"), "the next call is served: {result:?}");
    assert_eq!(count(&client, "test_answered").await, "1");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legacy_client_hears_that_its_visit_counted() {
    for cell in Cell::all().filter(|cell| cell.client.era() == Era::Legacy && cell.server == Era::Modern) {
        let host = Arc::new(Answering::default());
        let site = cell.site();
        let client = site.client(cell.client, host.clone()).await;
        asks_between(&client, "url").await;
        let id: String = host.asked()[0].params.as_ref().unwrap().member_as("elicitationId").unwrap();
        let told = host.noticed(method::ELICITATION_COMPLETE);
        let told: Vec<String> =
            told.iter().filter_map(|n| n.params.as_ref()?.member_as("elicitationId")).collect();
        assert_eq!(told, [id], "{cell:?}");
        client.close().await;
    }
}

async fn count(client: &Client, tool: &str) -> String {
    text_of(&client.call(tool, Object::new()).await.unwrap())
}

/// Polls the server until it reports a cancelled call.
async fn until_left_alone(client: &Client, cell: Cell) {
    let told = async {
        loop {
            if count(client, "test_left_alone").await == "1" {
                return;
            }
        }
    };
    let limit = std::time::Duration::from_secs(20);
    tokio::time::timeout(limit, told).await.unwrap_or_else(|_| panic!("{cell:?}: the call goes on"));
}

pub(crate) async fn asks_between(client: &Client, kind: &str) -> (CallToolResult, Vec<u64>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = heard.clone();
    let arguments = Raw::from(json!({"kind": kind})).object().unwrap();
    let result = client
        .call("test_asks_between", arguments)
        .on_progress(move |progress| {
            hear.lock().unwrap().push(progress.progress.as_str().parse().unwrap());
        })
        .await
        .unwrap_or_else(|fault| panic!("{kind}: {fault}"));
    let progress = heard.lock().unwrap().clone();
    (result, progress)
}

pub(crate) fn text_of(result: &CallToolResult) -> String {
    let text = result.blocks().iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    text.unwrap_or_default()
}
