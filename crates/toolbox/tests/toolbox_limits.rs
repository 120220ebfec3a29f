//! Deadlines, slots and priorities: however a call ends, its slot is released.

use futures_util::FutureExt;
use serde_json::json;
use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};
use trunkline_protocol::{Era, Handler, Part, Reply};
use trunkline_toolbox::{Context, Priority, Tool, ToolError, Toolbox, ToolboxBuilder};

fn builder() -> ToolboxBuilder {
    Toolbox::new("test", "1.0")
}

async fn forever() {
    pending::<()>().await;
}

fn start(toolbox: &Toolbox, tool: &str) -> Reply {
    let mut reply = toolbox.call(toolbox.test().request("tools/call", json!({"name": tool})));
    assert!(reply.next().now_or_never().is_none(), "{tool} runs or waits");
    reply
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_stopped_and_the_model_is_told() {
    let tool = Tool::new("slow", forever);
    let toolbox = builder().tool(tool).build().expect("a toolbox");
    let started = Instant::now();
    let result = toolbox.test().call("slow", json!({})).await.to_raw();
    assert_eq!(started.elapsed(), Duration::from_secs(30));
    assert!(result.as_str().contains("`slow` did not finish within 30 s"), "{result}");
    assert!(result.as_str().contains(r#""isError":true"#));
    assert_eq!(toolbox.load(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn l04_the_eleventh_call_waits_and_runs_when_a_slot_comes_free() {
    let toolbox = builder().tool(Tool::new("hold", forever)).tool(Tool::new("quick", || async { "done" }));
    let toolbox = toolbox.build().expect("a toolbox");
    let mut held: Vec<Reply> = (0..10).map(|_| start(&toolbox, "hold")).collect();
    let mut eleventh = start(&toolbox, "quick");
    assert_eq!(toolbox.load(), (10, 1));
    drop(held.pop());
    assert!(matches!(eleventh.next().now_or_never(), Some(Some(Part::Final(Ok(_))))));
    assert_eq!(toolbox.load(), (9, 0));
    drop(held);
    assert_eq!(toolbox.load(), (0, 0), "cancelled calls leave nothing behind");
}

#[tokio::test(start_paused = true)]
async fn l04_a_full_line_refuses_at_once() {
    let toolbox = builder().concurrency(1).max_waiting(2).tool(Tool::new("hold", forever));
    let toolbox = toolbox.build().expect("a toolbox");
    let _held: Vec<Reply> = (0..3).map(|_| start(&toolbox, "hold")).collect();
    let refused = toolbox.test().run_tool("hold", json!({})).now_or_never().expect("at once");
    let error = refused.outcome.unwrap_err().to_error(Era::Modern);
    assert_eq!(error.message, "the server is busy: 2 calls are waiting already");
    assert!(error.data.unwrap().as_str().contains("overloaded"));
}

#[tokio::test(start_paused = true)]
async fn l04_waiting_counts_against_the_deadline() {
    let toolbox = builder().concurrency(1).tool(Tool::new("hold", forever).deadline(Duration::from_hours(1)));
    let toolbox = toolbox.tool(Tool::new("quick", || async {})).build().expect("a toolbox");
    let _held = start(&toolbox, "hold");
    let result = toolbox.test().call("quick", json!({})).await;
    assert!(result.failed());
    assert_eq!(toolbox.load(), (1, 0));
}

#[tokio::test]
async fn l04_a_panic_harms_nobody_else_and_tells_nothing() {
    async fn panics(cx: Context) -> Result<String, ToolError> {
        assert!(cx.is_cancelled(), "secret {}", 42);
        Ok(String::new())
    }
    let early = Tool::new("early", |cx: Context| {
        assert!(cx.is_cancelled(), "before the first await");
        async {}
    });
    let toolbox = builder().concurrency(1).tool(Tool::new("panics", panics)).tool(early);
    let toolbox = toolbox.tool(Tool::new("fine", || async { "fine" })).build().expect("a toolbox");
    for tool in ["panics", "early", "panics"] {
        let fault = toolbox.test().run_tool(tool, json!({})).await.outcome.unwrap_err();
        let error = fault.to_error(Era::Modern);
        assert_eq!((error.code, error.message), (-32603, format!("`{tool}` failed unexpectedly")));
        assert_eq!(toolbox.load(), (0, 0));
    }
    assert!(!toolbox.test().call("fine", json!({})).await.failed());
}

#[tokio::test(start_paused = true)]
async fn l04_a_tool_has_its_own_limit_and_does_not_hold_up_others() {
    let hold = Tool::new("hold", forever).concurrency(1);
    let toolbox = builder().tool(hold).tool(Tool::new("quick", || async {})).build().expect("a toolbox");
    let _held = [start(&toolbox, "hold"), start(&toolbox, "hold")];
    assert_eq!(toolbox.load(), (1, 1));
    assert!(!toolbox.test().call("quick", json!({})).await.failed());
}

#[tokio::test(start_paused = true)]
async fn a_low_priority_is_served_in_the_end() {
    let go = Arc::new(Notify::new());
    let (order, gate) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&go));
    let low_at = Arc::new(AtomicUsize::new(usize::MAX));
    let (seen, place) = (Arc::clone(&order), Arc::clone(&low_at));
    let high = Tool::new("high", move || {
        let (gate, seen) = (Arc::clone(&gate), Arc::clone(&seen));
        async move {
            seen.fetch_add(1, Ordering::SeqCst);
            gate.notified().await;
        }
    });
    let low = Tool::new("low", move || {
        place.store(order.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
        async {}
    });
    let high = high.priority(Priority::High).deadline(Duration::from_hours(1));
    let low = low.priority(Priority::Low).deadline(Duration::from_hours(1));
    let toolbox = builder().concurrency(1).tool(high).tool(low).build().expect("a toolbox");
    let mut running = start(&toolbox, "high");
    let mut waiting_low = start(&toolbox, "low");
    // A stream of high-priority calls, each queued before the running one ends.
    for _ in 0..20 {
        let mut next = start(&toolbox, "high");
        tokio::time::advance(Duration::from_secs(1)).await;
        go.notify_one();
        assert!(matches!(running.next().await, Some(Part::Final(_))));
        if let Some(part) = waiting_low.next().now_or_never() {
            assert!(matches!(part, Some(Part::Final(Ok(_)))));
            break;
        }
        assert!(next.next().now_or_never().is_none());
        running = next;
    }
    let at = low_at.load(Ordering::SeqCst);
    assert!((2..=12).contains(&at), "neither first nor starved: {at}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_user_holds_no_slot_and_its_clock_stands() {
    async fn asks(cx: Context) -> Result<String, ToolError> {
        let answer = cx.elicit_form("Sure?", json!({"type": "object", "properties": {}}).into()).await?;
        tokio::time::sleep(Duration::from_secs(20)).await;
        Ok(answer.action.to_string())
    }
    let toolbox =
        builder().concurrency(1).tool(Tool::new("asks", asks)).tool(Tool::new("quick", || async {}));
    let toolbox = toolbox.build().expect("a toolbox");
    let trial = toolbox.test().capabilities(json!({"elicitation": {}}));
    let mut reply = toolbox.call(trial.request("tools/call", json!({"name": "asks"})));
    let Some(Part::Question(question)) = reply.next().await else { panic!("a question was to come") };
    assert!(reply.next().now_or_never().is_none());
    assert_eq!(toolbox.load(), (0, 0), "the slot is free while the user thinks");
    assert!(!toolbox.test().call("quick", json!({})).await.failed());
    tokio::time::advance(Duration::from_mins(5)).await;
    question.answer(Ok(json!({"action": "accept", "content": {}}).into()));
    let Some(Part::Final(Ok(result))) = reply.next().await else { panic!("a result was to come") };
    assert!(result.as_str().contains("accept"), "{result}");
    assert_eq!(toolbox.load(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends() {
    async fn asks(cx: Context) -> Result<String, ToolError> {
        cx.elicit_form("Sure?", json!({"type": "object", "properties": {}}).into()).await?;
        Ok("never".to_owned())
    }
    let toolbox = builder().tool(Tool::new("asks", asks)).build().expect("a toolbox");
    let trial = toolbox.test().capabilities(json!({"elicitation": {}}));
    let mut reply = toolbox.call(trial.request("tools/call", json!({"name": "asks"})));
    let Some(Part::Question(_question)) = reply.next().await else { panic!("a question was to come") };
    let Some(Part::Final(Ok(result))) = reply.next().await else { panic!("a result was to come") };
    assert!(result.as_str().contains("nobody answered"), "{result}");
}

#[tokio::test(start_paused = true)]
async fn work_beside_a_call_learns_that_the_call_is_over() {
    let (told, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let inside = (Arc::clone(&told), Arc::clone(&done));
    let tool = Tool::new("spawns", move |cx: Context| {
        let (told, done) = inside.clone();
        async move {
            tokio::spawn(async move {
                told.notify_one();
                cx.cancelled().await;
                done.notify_one();
            });
            pending::<()>().await;
        }
    });
    let toolbox = builder().tool(tool).build().expect("a toolbox");
    let reply = start(&toolbox, "spawns");
    told.notified().await;
    drop(reply);
    done.notified().await;
}

#[tokio::test]
async fn l04_a_clone_that_outlives_its_call_keeps_no_slot() {
    let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
    let inside = Arc::clone(&kept);
    let tool = Tool::new("leaks", move |cx: Context| {
        inside.lock().unwrap().push(cx);
        async {}
    });
    let toolbox = builder().concurrency(1).tool(tool).build().expect("a toolbox");
    for _ in 0..3 {
        assert!(!toolbox.test().call("leaks", json!({})).await.failed());
        assert_eq!(toolbox.load(), (0, 0));
    }
    let cx = kept.lock().unwrap().pop().unwrap();
    let late = cx.ask("roots/list", None).now_or_never().expect("a call that is over asks nobody");
    assert_eq!(late.unwrap_err().message(), "the call is over");
}
