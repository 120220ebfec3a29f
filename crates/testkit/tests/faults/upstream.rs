//! U01–U05: servers that crash, hang, answer late, answer other requests, or flood us.

use crate::support::*;
use serde_json::json;
use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};
use tokio::time::Instant;
use trunkline_client::{ConnectOptions, RevisionChoice, State, Target, resilience::BreakerState};
use trunkline_protocol::{Era, Fault, FaultKind, Object};

#[test]
fn u01_a_server_killed_during_a_call_is_named_within_a_second() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let (other, mut other_line) = legacy(options()).await;
        let call = call(&client);
        line.expect("tools/call").await;
        line.complain("disk on fire\n").await;
        let killed = Instant::now();
        line.kill().await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert!(killed.elapsed() < seconds(5), "{:?}", killed.elapsed());
        assert_eq!(code, "E220");
        assert!(text.contains("SIGKILL") || text.contains("signal 9"), "{text}");
        assert!(text.contains("disk on fire"), "{text}");
        client.watch_state().wait_for(|state| *state == State::Disconnected).await.unwrap();
        let (code, text) = code_and_text(&client.call("work", Object::new()).await.unwrap_err());
        assert_eq!(code, "E220", "a later caller hears the same reason: {text}");
        assert_works(&other, &mut other_line).await;
    });
}

#[test]
fn u01_all_calls_in_flight_end_and_their_results_before_the_end_count() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let calls: Vec<_> = (0..10).map(|_| call(&client)).collect();
        let first = line.expect("tools/call").await;
        for _ in 1..10 {
            line.expect("tools/call").await;
        }
        line.answer(&first, text("in time")).await;
        line.exit(3).await;
        let mut codes = Vec::new();
        for call in calls {
            codes.push(call.await.unwrap().map_or_else(|fault| fault.entry().code, |_| "ok"));
        }
        codes.sort_unstable();
        assert_eq!(codes[..9], ["E220"; 9]);
        assert_eq!(codes[9], "ok");
    });
}

#[test]
fn u02_a_server_that_dies_at_every_start_is_started_twice_and_reported() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut starts = 0;
        let outcome = tokio::select! {
            outcome = connecting => outcome.unwrap(),
            () = async {
                loop {
                    let mut line = peer.accept().await;
                    starts += 1;
                    line.complain("no licence\n").await;
                    line.exit(7).await;
                }
            } => unreachable!(),
        };
        let (code, text) = code_and_text(&outcome.unwrap_err());
        assert_eq!((code, starts), ("E220", 2));
        assert!(text.contains("no licence") && text.contains('7'), "{text}");
    });
}

#[test]
fn u02_calls_to_a_server_that_is_gone_open_the_circuit() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        line.exit(1).await;
        for _ in 0..5 {
            assert_eq!(code(client.call("work", Object::new()).await), "E220");
        }
        assert!(matches!(client.breaker(), BreakerState::Open { .. }), "{:?}", client.breaker());
        let (code, text) = code_and_text(&client.call("work", Object::new()).await.unwrap_err());
        assert_eq!(code, "E201");
        assert!(text.contains("suspended; failures in a row: 5"), "{text}");
    });
}

#[test]
fn u02_a_missing_program_is_told_at_once() {
    run(async {
        let target = Target::command(["/nonexistent/server", "--stdio"]).unwrap();
        let (code, text) = code_and_text(&connect(target, options()).await.unwrap().unwrap_err());
        assert_eq!(code, "E219");
        assert!(text.contains("/nonexistent/server"), "{text}");
    });
}

#[test]
fn u02_a_server_that_hangs_in_initialize_is_given_up_and_ended() {
    run(async {
        let (peer, connecting) = process(speaking(RevisionChoice::Era(Era::Legacy))).await;
        let mut line = peer.accept().await;
        line.expect("initialize").await;
        jump(seconds(31)).await;
        let (code, text) = code_and_text(&connecting.await.unwrap().unwrap_err());
        assert_eq!(code, "E202");
        assert!(text.starts_with("no connection to") && text.ends_with("within 30 s"), "{text}");
        assert_eq!(line.gone().await, b"", "`initialize` may not be cancelled");
    });
}

#[test]
fn u03_a_call_that_is_not_answered_ends_and_is_cancelled_on_the_wire() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        jump(seconds(61)).await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!(code, "E202");
        assert_eq!(text, "`tools/call` was not answered: no answer and no progress within 60s");
        let cancelled = line.expect("notifications/cancelled").await;
        assert_eq!(cancelled.params["requestId"].to_string(), id_of(&asked));
    });
}

#[test]
fn u03_late_answer_is_dropped() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let late = call(&client);
        let asked = line.expect("tools/call").await;
        jump(seconds(61)).await;
        assert_eq!(code(late.await.unwrap()), "E202");
        line.expect("notifications/cancelled").await;
        let next = call(&client);
        let other = line.expect("tools/call").await;
        line.answer(&asked, text("late")).await;
        line.answer(&other, text("mine")).await;
        let result = next.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("mine"), "{result:?}");
        assert_eq!(client.connection().strays(), 1);
    });
}

#[test]
fn u03_progress_extends_a_call_but_not_beyond_its_ceiling() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let heard = Arc::new(Mutex::new(0));
        let call = tokio::spawn({
            let (client, heard) = (client.clone(), heard.clone());
            async move {
                let hear = move |_| *heard.lock().unwrap() += 1;
                client.call("work", Object::new()).on_progress(hear).await
            }
        });
        let asked = line.expect("tools/call").await;
        let token = &asked.params["_meta"]["progressToken"];
        for step in 1..=11 {
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": step}});
            line.say(progress.to_string()).await;
            until(|| *heard.lock().unwrap() == step).await;
            jump(seconds(55)).await;
        }
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!(code, "E202");
        assert!(text.contains("no answer within 600s"), "{text}");
        line.expect("notifications/cancelled").await;
    });
}

#[test]
fn u03_a_caller_who_leaves_cancels_the_call() {
    run(async {
        let (client, mut line) = modern(options()).await;
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        call.abort();
        let cancelled = line.expect("notifications/cancelled").await;
        assert_eq!(cancelled.params["requestId"].to_string(), id_of(&asked));
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn u04_answers_to_wrong_ids_are_dropped_and_counted() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        let id = id_of(&asked);
        for wrong in
            [format!("\"{id}\""), "999".to_owned(), "-1".to_owned(), "\"x\"".to_owned(), "1".to_owned()]
        {
            line.say(format!(r#"{{"jsonrpc":"2.0","id":{wrong},"result":{{"content":[]}}}}"#)).await;
        }
        line.answer(&asked, text("mine")).await;
        line.answer(&asked, text("again")).await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("mine"), "{result:?}");
        until(|| client.connection().strays() == 6).await;
        assert_works(&client, &mut line).await;
        assert_eq!(client.connection().strays(), 6);
    });
}

#[test]
fn u04_answers_in_any_order_reach_their_own_callers() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let mut calls = Vec::new();
        for n in 0..50 {
            let client = client.clone();
            let mut arguments = Object::new();
            arguments.set("n", serde_json::Value::from(n).into());
            calls.push(tokio::spawn(async move { client.call("work", arguments).await }));
        }
        let mut asked = Vec::new();
        for _ in 0..50 {
            asked.push(line.expect("tools/call").await);
        }
        for ask in asked.iter().rev() {
            line.answer(ask, json!({"content": [], "structuredContent": ask.params["arguments"]})).await;
        }
        for (n, call) in calls.into_iter().enumerate() {
            let answer = call.await.unwrap().unwrap().structured_content.unwrap();
            assert_eq!(answer.member_as::<usize>("n"), Some(n));
        }
    });
}

#[test]
fn u05_a_flood_of_notifications_delays_no_answer_and_changes_still_count() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let tools = list_tools(&client, &mut line, "before").await;
        assert_eq!(tools, ["before"]);
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        let mut flood = String::new();
        for n in 0..25_000 {
            for (method, params) in [
                (
                    "notifications/progress",
                    format!(r#"{{"progressToken":{},"progress":{n}}}"#, id_of(&asked)),
                ),
                ("notifications/progress", format!(r#"{{"progressToken":"foreign","progress":{n}}}"#)),
                ("notifications/message", r#"{"level":"info","data":"x"}"#.to_owned()),
                ("notifications/tools/list_changed", "{}".to_owned()),
            ] {
                writeln!(flood, r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#).unwrap();
            }
        }
        line.write(flood).await;
        line.answer(&asked, text("through")).await;
        call.await.unwrap().unwrap();
        assert_eq!(client.connection().strays(), 25_000, "progress of an unknown call");
        assert_eq!(list_tools(&client, &mut line, "after").await, ["after"]);
    });
}

async fn list_tools(
    client: &trunkline_client::Client,
    line: &mut trunkline_testkit::script::ProcessLine,
    name: &str,
) -> Vec<String> {
    let listing = tokio::spawn({
        let client = client.clone();
        async move { client.tools().await }
    });
    let asked = line.expect("tools/list").await;
    line.answer(&asked, json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]})).await;
    listing.await.unwrap().unwrap().items.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn u05_a_flood_of_questions_is_answered_up_to_a_bound_and_refused_beyond_it() {
    run(async {
        let host = TestHost::new(|_| Err(Fault::new(FaultKind::Declined, "no")));
        let (client, mut line) = legacy(ConnectOptions { host: host.clone(), ..options() }).await;
        let mut flood = String::new();
        for n in 0..2_000 {
            writeln!(flood, r#"{{"jsonrpc":"2.0","id":"q{n}","method":"elicitation/create"}}"#).unwrap();
            writeln!(flood, r#"{{"jsonrpc":"2.0","id":"p{n}","method":"ping"}}"#).unwrap();
        }
        line.write(flood).await;
        let call = call(&client);
        let mut answers = 0;
        let asked = loop {
            let message = line.message().await;
            if message.method == "tools/call" {
                break message;
            }
            answers += 1;
        };
        line.answer(&asked, text("fine")).await;
        call.await.unwrap().unwrap();
        let dropped = usize::try_from(client.connection().strays()).unwrap();
        assert!(answers + dropped <= 4_000, "{answers} answers, {dropped} dropped");
        assert!(host.asked.lock().unwrap().len() <= 2_000);
        assert_works_among_answers(&client, &mut line).await;
    });
}

async fn assert_works_among_answers(
    client: &trunkline_client::Client,
    line: &mut trunkline_testkit::script::ProcessLine,
) {
    let call = call(client);
    loop {
        let message = line.message().await;
        if message.method == "tools/call" {
            line.answer(&message, text("fine")).await;
            break;
        }
    }
    call.await.unwrap().unwrap();
}
