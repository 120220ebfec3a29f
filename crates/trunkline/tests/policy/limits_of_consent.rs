//! Consent that must not count, and values that must not pass.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    consent::{approvals, errand, finished, pending},
    outcome::Outcome::{self, Denied, Refused, Runs},
    peers,
    site::Site,
    wire::Wire,
};
use serde_json::{Value, json};

fn site(name: &str, rules: &Value) -> Site {
    let site = Site::new(name);
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "policy": {"default": "allow", "rules": rules},
        "limits": {"approvalTimeout": "1s"},
    }));
    site
}

/// A11: the agreement of the person at the client is none of an operator.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a11_a_rule_for_operators_is_not_met_by_the_consent_of_a_client() {
    let site = site(
        "kinds",
        &json!([
            {"effect": "ask", "consent": "operator", "tools": ["echo_echo"],
             "arguments": [{"at": "/text", "glob": "operator*"}]},
            {"effect": "ask", "tools": ["echo_echo"]},
        ]),
    );
    let mut door = site.open();
    let mut client = peers::typescript("2");
    client.args(errand(&door, "modern", "mine")).env("ANSWER", r#"{"decision":"allow for one hour"}"#);
    let output = finished(client).await;
    assert!(output.status.success(), "{output:?}");
    for revision in [LEGACY, MODERN] {
        let mut caller = Caller::open(&door, None, revision).await;
        // The consent holds for an hour, without a question.
        let answer = caller.call("echo_echo", json!({"text": "mine"})).await;
        assert_eq!(Outcome::of(&answer), Runs, "{answer:#}");
        let answer = caller.call("echo_echo", json!({"text": "operator only"})).await;
        assert_eq!(Outcome::of(&answer), Refused, "{answer:#}");
    }
    door.stop().await;
    site.emptied().await;
}

/// A11: another kind of value than the rule compares counts against the caller.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a11_words_and_numbers_do_not_pass_for_a_truth_value() {
    let site = site(
        "values",
        &json!([
            {"effect": "deny", "tools": ["echo_echo"], "arguments": [{"at": "/force", "equals": true}]},
        ]),
    );
    let mut door = site.open();
    for revision in [LEGACY, MODERN] {
        let mut caller = Caller::open(&door, None, revision).await;
        caller.insist("echo_echo", json!({"text": "there"})).await;
        for (force, expected) in [
            (json!(true), Denied),
            (json!("yes"), Denied),
            (json!("true"), Denied),
            (json!(1), Denied),
            (json!([true]), Denied),
            (json!(false), Runs),
            (json!(null), Runs),
        ] {
            let answer = caller.call("echo_echo", json!({"text": "a", "force": force})).await;
            assert_eq!(Outcome::of(&answer), expected, "{force} {answer:#}");
        }
    }
    door.stop().await;
    site.emptied().await;
}

/// A11: a program that calls over REST could answer its own question, so an operator is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a11_a_program_over_rest_does_not_consent_to_its_own_call() {
    let site = Site::new("rest-consent");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "policy": {"rules": [{"effect": "ask", "tools": ["echo_echo"]}]},
    }));
    let mut door = site.open();
    let address = door.address.clone();
    let call = tokio::spawn(async move {
        let mut wire = Wire::open(&address).await.unwrap();
        let body = json!({"params": {"text": "a"}}).to_string();
        let what = "POST /mcp/tools/echo_echo/execute";
        wire.send(what, "Content-Type: application/json\r\n", &body).await.unwrap().text()
    });
    let waiting = pending(&site, &door).await;
    let (fine, _, errors) = approvals(&site, &door, &["deny", waiting["id"].as_str().unwrap()]);
    assert!(fine, "{errors}");
    let told: Value = serde_json::from_str(&call.await.unwrap()).unwrap();
    assert_eq!(told["error"]["details"]["errorCode"], "E226", "{told:#}");
    door.stop().await;
    site.emptied().await;
}
