//! Long results are cut, and their caller reads the rest as a resource.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    site::Site,
};
use serde_json::{Value, json};

const WHOLE: usize = 5000;

fn site() -> (Site, Vec<String>) {
    let site = Site::new("cut");
    let mut long = site.echo("long", "modern");
    long["resultBytes"] = 1000.into();
    site.configure(&json!({
        "mcp": {"servers": {"long": long, "free": site.echo("free", "legacy")}},
        "views": {"tiny": {"resultBytes": 300}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("ada", &[]), ("bob", &[])]);
    (site, keys.into_iter().map(|key| key.token).collect())
}

/// The shown text, and the URI of the rest.
fn shown(answer: &Value) -> (usize, String) {
    let result = &answer["result"];
    let cut = &result["_meta"]["trunkline/truncated"];
    let uri = cut["uri"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
    let note = result["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
    assert!(note.contains(&uri), "{note}");
    (result["content"][0]["text"].as_str().unwrap().len(), uri)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_results_are_cut_and_read_by_their_caller_only() {
    let (site, tokens) = site();
    let mut door = site.open();
    let large = json!({"bytes": WHOLE});
    for revision in [LEGACY, MODERN] {
        let mut ada = Caller::open(&door, Some(&tokens[0]), revision).await;
        ada.insist("long_echo", json!({"text": "there"})).await;
        ada.insist("free_echo", json!({"text": "there"})).await;
        let free = ada.said("free_large", large.clone()).await;
        assert_eq!(free.len(), WHOLE);
        let (mut length, mut uri) = shown(&ada.call("long_large", large.clone()).await);
        assert_eq!(length, 1000);
        let mut bob = Caller::open(&door, Some(&tokens[1]), revision).await;
        let refused = bob.request("resources/read", json!({ "uri": uri })).await;
        assert!(refused["error"].is_object(), "{refused:#}");
        loop {
            let part = ada.request("resources/read", json!({ "uri": uri })).await;
            let contents = &part["result"]["contents"][0];
            length += contents["text"].as_str().unwrap_or_else(|| panic!("{part:#}")).len();
            match contents["_meta"]["trunkline/more"]["next"].as_str() {
                Some(next) => uri = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(length, WHOLE);
        // The lower limit of view and server counts.
        let mut tiny = Caller::at(&door, "/mcp/tiny", Some(&tokens[0]), revision).await;
        for tool in ["long_large", "free_large"] {
            assert_eq!(shown(&tiny.call(tool, large.clone()).await).0, 300, "{tool}");
        }
    }
    door.stop().await;
    site.emptied().await;
}
