//! Calls of the modern era that need input from the client (`input_required`).

use crate::support::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use trunkline_client::ConnectOptions;
use trunkline_protocol::{Fault, FaultKind};

fn question() -> Value {
    json!({"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {"type": "object"}}})
}

#[test]
fn an_endless_series_of_questions_ends_after_ten_rounds() {
    run(async {
        let host = TestHost::accepting();
        let (client, mut line) = modern(ConnectOptions { host: host.clone(), ..options() }).await;
        let call = call(&client);
        let mut ids = HashSet::new();
        for round in 0..11 {
            let asked = line.expect("tools/call").await;
            assert!(ids.insert(id_of(&asked).to_owned()), "each round has an id of its own");
            if round > 0 {
                assert_eq!(asked.params["inputResponses"]["who"]["action"], "accept");
                assert_eq!(asked.params["requestState"], format!("state {round}"));
                assert_eq!(asked.params["name"], "work");
            }
            let state = format!("state {}", round + 1);
            let needed = json!({"resultType": "input_required", "inputRequests": {"who": question()}, "requestState": state});
            line.answer(&asked, needed).await;
        }
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!((code, text.as_str()), ("E223", "the server asked for input more than 10 times"));
        assert_eq!(host.asked.lock().unwrap().len(), 10);
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn the_state_goes_back_byte_for_byte() {
    run(async {
        let (client, mut line) = modern(options()).await;
        let call = call(&client);
        for state in [
            r#""\u0041\/\ud83d\ude00\u0000é""#,
            r#""\u00e9 \"quoted\" \\ back""#,
            r#""""#,
            r#""<script>\u2028""#,
        ] {
            let asked = line.expect("tools/call").await;
            line.say(
                asked.result_text(&format!(r#"{{"resultType":"input_required","requestState":{state}}}"#)),
            )
            .await;
            let again = line.message().await;
            assert!(again.text.contains(&format!(r#""requestState":{state}"#)), "{}", again.text);
            assert_eq!(again.params.get("inputResponses"), None);
            // The same request, answered with the next state.
            line.say(again.result_text(r#"{"resultType":"input_required","requestState":"between"}"#)).await;
        }
        let last = line.expect("tools/call").await;
        line.answer(&last, json!({"resultType": "complete", "content": []})).await;
        call.await.unwrap().unwrap();
    });
}

#[test]
fn a_round_without_state_repeats_none() {
    run(async {
        let host = TestHost::accepting();
        let (client, mut line) = modern(ConnectOptions { host, ..options() }).await;
        let call = call(&client);
        let first = line.expect("tools/call").await;
        let needed =
            json!({"resultType": "input_required", "inputRequests": {"a": question()}, "requestState": "s"});
        line.answer(&first, needed).await;
        let second = line.expect("tools/call").await;
        assert_eq!(second.params["requestState"], "s");
        line.answer(&second, json!({"resultType": "input_required", "inputRequests": {"b": question()}}))
            .await;
        let third = line.expect("tools/call").await;
        assert_eq!(third.params.get("requestState"), None);
        let keys: Vec<_> = third.params["inputResponses"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["b"]);
        line.answer(&third, json!({"content": []})).await;
        call.await.unwrap().unwrap();
    });
}

#[test]
fn a_question_nobody_answers_ends_the_call() {
    run(async {
        let host = TestHost::new(|_| Err(Fault::new(FaultKind::Declined, "not now")));
        let (client, mut line) = modern(ConnectOptions { host, ..options() }).await;
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        line.answer(&asked, json!({"resultType": "input_required", "inputRequests": {"a": question()}}))
            .await;
        assert_eq!(code_and_text(&call.await.unwrap().unwrap_err()), ("E222", "not now".to_owned()));
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_result_of_an_unknown_kind_breaks_the_protocol() {
    run(async {
        let (client, mut line) = modern(options()).await;
        for kind in [json!("maybe"), json!(7), json!(null), json!({"complete": true})] {
            let call = call(&client);
            let asked = line.expect("tools/call").await;
            line.answer(&asked, json!({"resultType": kind, "content": []})).await;
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, "E217", "{text}");
            assert!(text.contains("unknown type"), "{text}");
        }
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn questions_that_cannot_be_read_break_the_protocol() {
    run(async {
        let (client, mut line) = modern(options()).await;
        for requests in [json!([]), json!({"a": 5}), json!({"a": {"params": {}}}), json!("who?")] {
            let call = call(&client);
            let asked = line.expect("tools/call").await;
            line.answer(&asked, json!({"resultType": "input_required", "inputRequests": requests})).await;
            assert_eq!(code(call.await.unwrap()), "E217", "{requests}");
        }
        assert_works(&client, &mut line).await;
    });
}
