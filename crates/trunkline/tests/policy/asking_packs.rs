//! Rules that ask, for the built-in tools without configured servers.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    consent::{approvals, finished, pending, trail},
    outcome::Outcome::{self, Refused, Runs},
    peers,
    site::Site,
};
use serde_json::{Value, json};

const TOOL: &str = "read_file";

fn site(name: &str) -> Site {
    let site = Site::new(name);
    site.write("hello.txt", "good morning");
    site.configure(&json!({
        "policy": {"rules": [{"effect": "ask", "tools": [TOOL], "reason": "it is private"}]},
        "audit": {"enabled": true, "directory": site.path("audit")},
    }));
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_decides_about_calls_of_built_in_tools() {
    let site = site("packs-operator");
    let mut door = site.open();
    for (revision, act, expected) in [(LEGACY, "approve", Runs), (MODERN, "deny", Refused)] {
        let mut caller = Caller::open(&door, None, revision).await;
        let call = tokio::spawn(async move { caller.call(TOOL, json!({"path": "hello.txt"})).await });
        let waiting = pending(&site, &door).await;
        assert_eq!(
            (&waiting["tool"], &waiting["reason"]),
            (&json!("trunkline_read_file"), &json!("it is private"))
        );
        let (fine, _, errors) = approvals(&site, &door, &[act, waiting["id"].as_str().unwrap()]);
        assert!(fine, "{errors}");
        let answer = call.await.unwrap();
        assert_eq!(Outcome::of(&answer), expected, "{answer:#}");
        assert_eq!(answer.to_string().contains("good morning"), expected == Runs, "{answer:#}");
    }
    door.stop().await;
    let trail = trail(&site);
    for what in ["approval-pending", "approval-approved", "approval-denied"] {
        assert!(trail.contains(what), "{what}: {trail}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_at_the_client_is_asked_about_built_in_tools() {
    let site = site("packs-elicit");
    let mut door = site.open();
    let config = site.path("trunkline.json").display().to_string();
    let folder = site.folder.path().display().to_string();
    let words = [env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--root", &folder, "--config", &config];
    let words = words.map(str::to_owned).to_vec();
    for (kind, target) in [("http", vec![door.endpoint.clone()]), ("stdio", words)] {
        if kind == "stdio" {
            // Two processes cannot keep one audit trail.
            door.stop().await;
        }
        for era in ["legacy", "modern"] {
            let errand = json!([{"target": target, "calls": [[TOOL, {"path": "hello.txt"}]]}]);
            let mut client = peers::typescript("2");
            client.args([era, kind, &errand.to_string()]).env("ANSWER", r#"{"decision":"allow once"}"#);
            client.env("HOME", site.folder.path());
            let output = finished(client).await;
            let report: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{kind} {era}: {}", String::from_utf8_lossy(&output.stderr)));
            assert!(report[0]["results"].to_string().contains("good morning"), "{kind} {era}: {report:#}");
            assert!(report[0]["asked"][0].as_str().unwrap().contains("it is private"), "{report:#}");
        }
    }
}

/// `explain`, with a gateway and without, and `policy test` know the built-in tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_about_built_in_tools_are_explained() {
    let site = site("packs-explained");
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("list_directory", json!({"path": "."})).await;
    let run = |words: &[&str]| {
        let output = site.binary().args(words).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let url = format!("http://{}", door.address);
    let config = site.path("trunkline.json").display().to_string();
    for place in [["--url", &url], ["--config", &config]] {
        let (code, told) = run(&[&["explain", TOOL, "path=hello.txt"][..], &place].concat());
        assert!(code == Some(1) && told.contains("ASKS") && told.contains("trunkline.json:"), "{told}");
        let (code, told) = run(&[&["explain", "list_directory", "path=."][..], &place].concat());
        assert_eq!(code, Some(0), "{told}");
        let (code, told) = run(&[&["explain", "no_such_tool"][..], &place].concat());
        assert!(code == Some(1) && told.contains("E204"), "{told}");
    }
    site.write(
        "expected.json",
        &json!({"expect": [
            {"tool": TOOL, "arguments": {"path": "a"}, "decision": "ask"},
            {"tool": "list_directory", "arguments": {"path": "a"}, "decision": "allow"},
            {"tool": "no_such_tool", "decision": "hidden"},
        ]})
        .to_string(),
    );
    let expected = site.path("expected.json").display().to_string();
    let (code, told) = run(&["policy", "test", &expected, "--config", &config]);
    assert_eq!(code, Some(0), "{told}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a11_no_caller_of_built_in_tools_agrees_to_its_own_call() {
    let site = Site::new("packs-own");
    site.write("hello.txt", "good morning");
    site.configure(&json!({
        "roles": {"dev": {"allow": ["*"]}, "boss": {"allow": ["*"], "operate": true}},
        "policy": {"rules": [{"effect": "ask", "consent": "operator", "tools": [TOOL]}]},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("dev", &["dev"]), ("boss", &["boss"])]);
    let mut door = site.open();
    let (dev, boss) = (keys[0].token.as_str(), keys[1].token.as_str());
    for (caller, decider) in [(dev, dev), (boss, boss), (dev, boss)] {
        let mut client = Caller::open(&door, Some(caller), MODERN).await;
        let call = tokio::spawn(async move { client.call(TOOL, json!({"path": "hello.txt"})).await });
        let listed = async || loop {
            let (_, told, _) = approvals(&site, &door, &["list", "--key", boss]);
            let all = told["approvals"].as_array().cloned().unwrap_or_default();
            if let Some(found) = all.into_iter().find(|one| one["state"] == "pending") {
                return found["id"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(crate::site::PAUSE).await;
        };
        let id = tokio::time::timeout(crate::site::HANG, listed()).await.expect("the call waits");
        let (fine, _, errors) = approvals(&site, &door, &["approve", &id, "--key", decider]);
        assert_eq!(fine, caller != decider, "{errors}");
        if fine {
            assert_eq!(Outcome::of(&call.await.unwrap()), Runs);
        } else {
            call.abort();
            // The next round must find its own call only.
            assert!(call.await.is_err());
            let gone = async || {
                while approvals(&site, &door, &["show", &id, "--key", boss]).1["state"] == "pending" {
                    tokio::time::sleep(crate::site::PAUSE).await;
                }
            };
            tokio::time::timeout(crate::site::HANG, gone()).await.expect("the question is withdrawn");
        }
    }
    door.stop().await;
}
