//! Executions of several callers: their owners, their share of the store, and operators.

use crate::{
    rest::{Rest, body_of, code},
    site::Site,
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h5_an_execution_is_its_callers_and_its_operators_only() {
    let site = Site::new("owners");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "roles": {"user": {"allow": ["*"]}, "chief": {"allow": ["*"], "operate": true}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("ada", &["user"]), ("eve", &["user"]), ("chief", &["chief"])]);
    let mut door = site.open();
    let mut ada = Rest::at(&door, Some(&keys[0].token)).await;
    let mut eve = Rest::at(&door, Some(&keys[1].token)).await;
    let mut chief = Rest::at(&door, Some(&keys[2].token)).await;
    let id = ada.start("echo_gate", &json!({"text": "x", "path": site.path("never")})).await;
    let unknown = format!("{}{}", &id[..40], "00000000");
    for path in ["", "?wait=1", "/events"] {
        let (others, none) = (
            eve.get(&format!("/mcp/executions/{id}{path}")).await,
            eve.get(&format!("/mcp/executions/{unknown}{path}")).await,
        );
        assert_eq!(others.status, 404);
        assert_eq!(others.text().replace(&id, ""), none.text().replace(&unknown, ""), "both look the same");
    }
    assert_eq!(eve.delete(&id).await.0.status, 404);
    assert_eq!(eve.post(&format!("/mcp/executions/{id}/answer"), "", &json!({})).await.0.status, 404);
    assert_eq!(body_of(&eve.get("/mcp/executions").await)["executions"], json!([]));
    assert_eq!(eve.get("/mcp/executions?all=true").await.status, 403);
    assert_eq!(body_of(&chief.get("/mcp/executions").await)["executions"], json!([]), "own ones");
    let all = body_of(&chief.get("/mcp/executions?all=true").await);
    assert_eq!(all["executions"][0]["executionId"], json!(id));
    assert_eq!(ada.reaches(&id, &["running"]).await["tool"], "echo_gate");
    assert_eq!(chief.delete(&id).await.1["state"], "cancelled");
    assert_eq!(ada.reaches(&id, &["cancelled"]).await["success"], false);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l07_bytes_that_are_kept_for_one_caller_are_bounded() {
    let site = Site::new("kept-bytes");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "auth": {"keys": site.path("keys.json")},
        "limits": {"executionBytes": 1 << 20},
        "store": {"path": site.path("store.redb")},
    }));
    let keys = site.keys(&[("ada", &[]), ("eve", &[])]);
    let mut door = site.open();
    let mut ada = Rest::at(&door, Some(&keys[0].token)).await;
    let large = json!({"bytes": 400_000});
    for _ in 0..2 {
        let id = ada.start("echo_large", &large).await;
        assert_eq!(ada.reaches(&id, &["done", "failed"]).await["state"], "done");
    }
    // It runs, but there is no room for its result.
    let id = ada.start("echo_large", &large).await;
    let failed = ada.reaches(&id, &["done", "failed"]).await;
    let message = failed["error"]["message"].as_str().unwrap_or_else(|| panic!("{failed}"));
    assert!(message.contains("has run") && message.contains("limits.executionBytes"), "{message}");
    assert_eq!(failed["error"]["details"]["retryable"], false, "{failed}");
    // Small ones fill the rest; then none is accepted.
    let small = json!({"params": {"text": "x"}, "mode": "async"});
    let mut accepted = 0;
    let (refused, body) = loop {
        let (answer, body) = ada.execute("echo_echo", &small).await;
        if answer.status != 202 {
            break (answer, body);
        }
        accepted += 1;
        assert!(accepted < 256, "each counts 4 KiB at least");
    };
    assert_eq!((refused.status, code(&body)), (429, "RATE_LIMIT_ERROR"), "{body}");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3900).contains(&wait), "{wait}");
    let (sync, _) = ada.execute("echo_large", &json!({ "params": large })).await;
    assert_eq!(sync.status, 200, "a result that is not kept is not counted");
    let mut eve = Rest::at(&door, Some(&keys[1].token)).await;
    let id = eve.start("echo_large", &large).await;
    assert_eq!(eve.reaches(&id, &["done", "failed"]).await["state"], "done");
    door.stop().await;
    // The store remembers the bytes, so a restart gives none back.
    let mut door = site.open();
    let mut ada = Rest::at(&door, Some(&keys[0].token)).await;
    assert_eq!(ada.execute("echo_echo", &small).await.0.status, 429);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h5_the_audit_trail_names_the_operator_that_answered() {
    for era in ["modern", "legacy"] {
        let site = Site::new("answered-by");
        site.configure(&json!({
            "mcp": {"servers": {"echo": site.echo("echo", era)}},
            "roles": {"user": {"allow": ["*"]}, "chief": {"allow": ["*"], "operate": true}},
            "auth": {"keys": site.path("keys.json")},
            "audit": {"enabled": true, "directory": site.path("audit")},
        }));
        let keys = site.keys(&[("ada", &["user"]), ("chief", &["chief"])]);
        let mut door = site.open();
        let mut ada = Rest::at(&door, Some(&keys[0].token)).await;
        let mut chief = Rest::at(&door, Some(&keys[1].token)).await;
        let id = ada.start("echo_ask", &json!({})).await;
        ada.reaches(&id, &["waiting"]).await;
        let path = format!("/mcp/executions/{id}/answer");
        assert_eq!(chief.post(&path, "", &json!({"content": {"name": "Bo"}})).await.0.status, 200);
        let done = ada.reaches(&id, &["done"]).await;
        door.stop().await;
        let records = trunkline_gateway::audit::tail(site.path("audit"), usize::MAX).unwrap();
        let records: Vec<Value> = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = done["audit"].as_array().unwrap().last().unwrap();
        let end = records.iter().find(|record| record["call"] == *last && record["kind"] == "end");
        let end = end.unwrap_or_else(|| panic!("{era}: {records:#?}"));
        let (caller, by) = (end["caller"].as_str().unwrap(), end["answeredBy"].as_str().unwrap_or_default());
        assert!(caller.contains("ada") && by.contains("chief"), "{era}: {end}");
    }
}
