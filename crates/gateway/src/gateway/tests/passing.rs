//! Everything is passed on byte for byte, except for the rewrites in `docs/rewrites.md`.

use super::{
    client,
    fake::{Fake, Lists, tool},
    gateway, raw,
};
use crate::catalog::{Rules, ServerRules};
use futures_util::stream;
use serde_json::{Value, json};
use trunkline_protocol::{
    Call, Caller, Era, ErrorObject, Fault, Handler, Notification, Notify, Outcome, Part, Question, Raw,
    Reply, Revision, method::*,
};

/// Parameters with unknown members, odd spacing, odd numbers and `_meta` at every level.
const PARAMS: &str = r#"{ "x-first":[1.0 ,2], "name" : "NAME", "arguments":{"name":"a_add","b":{"c":1e5,"d":123456789012345678901234567890},"\u0061":"\/"},
    "x-state":"opaque\u002bstate","inputResponses":{"k":{"action":"accept"}}, "_meta":{"progressToken":"p1","traceparent":"00-1-2-01","tracestate":"a=b","baggage":"k=v",
    "io.modelcontextprotocol/logLevel":"debug","vendor.example/x":{"y":[ ]}}, "task":{"ttl":1}, "z":null}"#;

#[tokio::test]
async fn a_call_reaches_its_server_with_only_the_name_changed() {
    let a = Fake::new("a", Lists { prompts: vec![raw(r#"{"name":"add"}"#)], ..Lists::tools(&["add"]) });
    let gateway = gateway(&[&a], Rules::default());
    for method in [TOOLS_CALL, PROMPTS_GET] {
        let mut call = Call::new(method, Some(raw(&PARAMS.replace("NAME", "a_add"))));
        call.deadline = Some(std::time::Instant::now());
        call.revision = Revision::ALL[0];
        drop(gateway.call(call.clone()).outcome().await.unwrap());
        let got = a.calls().pop().unwrap();
        assert_eq!(got.params.unwrap().as_str(), PARAMS.replace("NAME", "add"));
        assert_eq!((got.deadline, got.revision, got.method), (call.deadline, call.revision, method.into()));
    }
}

#[tokio::test]
async fn a_name_that_is_the_same_on_both_sides_costs_no_copy() {
    let a = Fake::new("a", Lists::tools(&["add"]));
    let gateway = gateway(&[&a], Rules::default());
    let params = raw(&PARAMS.replace("NAME", "add"));
    let mut call = Call::new(TOOLS_CALL, Some(params.clone()));
    call.view = Some("server/a".into());
    drop(gateway.call(call).outcome().await.unwrap());
    let got = a.calls().pop().unwrap().params.unwrap();
    assert_eq!(got.as_bytes().as_ptr(), params.as_bytes().as_ptr());
}

#[tokio::test]
async fn everything_that_comes_back_is_what_the_server_sent() {
    const RESULT: &str = r#"{"content":[ {"type":"resource_link","uri":"file:///x","name":"n","new":1.50}, {"type":"hologram"} ],"structuredContent":{"z":1e2,"a":123456789012345678901234567890},
        "isError":false,"_meta":{"k":[ ]},"resultType":"complete","requestState":"s","taskId":"not ours"}"#;
    let progress_params = r#"{"progressToken":"p1","progress":1.0,"x":[ ]}"#;
    let parts = move |_: &Call| {
        let mut progress = Notification::new(PROGRESS, Some(raw(progress_params)));
        progress.rest.set("rest", raw("1"));
        let log = Notification::new(MESSAGE, Some(raw(r#"{"level":"info","data":{"k":1.0}}"#)));
        let question = Question::new(ELICIT, Some(raw(r#"{"message":"?","new":1.0}"#)), |_| {}).named("key");
        let parts = [
            Part::Notification(progress),
            Part::Notification(log),
            Part::Question(question),
            Part::Detach,
            Part::Final(Ok(raw(RESULT))),
        ];
        Reply::new(stream::iter(parts))
    };
    // One server whose results are never parsed, and one whose results are, because it has tasks.
    for capabilities in
        [json!({"tools": {}}), json!({"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})]
    {
        let a = Fake::new("a", Lists { capabilities, ..Lists::tools(&["add"]) }).answers(parts);
        let gateway = gateway(&[&a], Rules::default());
        let mut reply = client().start(&gateway, TOOLS_CALL, &json!({"name": "a_add"}));
        let Some(Part::Notification(progress)) = reply.next().await else { panic!("no progress") };
        assert_eq!(
            (progress.params.unwrap().as_str(), progress.rest.get("rest").unwrap().as_str()),
            (progress_params, "1")
        );
        assert!(matches!(reply.next().await, Some(Part::Notification(log)) if log.method == MESSAGE));
        let Some(Part::Question(question)) = reply.next().await else { panic!("no question") };
        assert_eq!(
            (question.key.as_deref(), question.params.as_ref().unwrap().as_str()),
            (Some("key"), r#"{"message":"?","new":1.0}"#)
        );
        assert!(matches!(reply.next().await, Some(Part::Detach)));
        let Some(Part::Final(Ok(result))) = reply.next().await else { panic!("no result") };
        assert_eq!(result.as_str(), RESULT);
    }
}

#[tokio::test]
async fn a_servers_error_passes_as_it_is() {
    let a = Fake::new("a", Lists::tools(&["add"])).answers(|call| {
        let mut error = ErrorObject::new(-32099, "odd");
        error.data = Some(raw(r#"{"n":1.50}"#));
        Reply::ready(Err(Fault::from_peer(error, Era::Modern, &call.method)))
    });
    let gateway = gateway(&[&a], Rules::default());
    let error =
        client().ask(&gateway, TOOLS_CALL, json!({"name": "a_add"})).await.unwrap_err().to_error(Era::Modern);
    assert_eq!((error.code, error.data.unwrap().as_str()), (-32099, r#"{"n":1.50}"#));
}

#[tokio::test]
async fn dropping_a_reply_drops_the_servers() {
    struct Alarm(std::sync::Arc<std::sync::atomic::AtomicBool>);
    impl Drop for Alarm {
        fn drop(&mut self) {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let dropped = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = dropped.clone();
    let a = Fake::new("a", Lists::tools(&["add"])).answers(move |_| {
        let alarm = Alarm(seen.clone());
        Reply::from_future(async move {
            let _alarm = alarm;
            std::future::pending::<Outcome>().await
        })
    });
    let gateway = gateway(&[&a], Rules::default());
    drop(client().start(&gateway, TOOLS_CALL, &json!({"name": "a_add"})));
    assert!(dropped.load(std::sync::atomic::Ordering::Relaxed));
}

#[tokio::test]
async fn arguments_are_checked_where_the_rules_want_it() {
    let schema = r#"{"name":"add","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#;
    let evil = r#"{"name":"evil","inputSchema":{"type":"object","properties":{"n":{"$ref":"http://127.0.0.1:9/x"}}}}"#;
    let lists = Lists { tools: vec![raw(schema), raw(evil)], ..Lists::default() };
    let checked = ServerRules { check_arguments: true, ..ServerRules::default() };
    let rules = Rules { servers: [("a".parse().unwrap(), checked)].into(), ..Rules::default() };
    let (a, b) = (Fake::new("a", lists.clone()), Fake::new("b", lists));
    let gateway = gateway(&[&a, &b], rules);
    let call = async |name: &str, n: Value| {
        client().ask(&gateway, TOOLS_CALL, json!({"name": name, "arguments": {"n": n}})).await
    };
    let refused = call("a_add", json!("x")).await.unwrap();
    assert_eq!(refused.member_as::<bool>("isError"), Some(true));
    assert!(a.calls().is_empty());
    assert!(call("a_add", json!(1)).await.unwrap().member("server").is_some());
    assert!(call("b_add", json!("x")).await.unwrap().member("server").is_some());
    // J10: a schema with an external reference quarantines its tool and not the others.
    assert!(call("a_evil", json!(1)).await.is_err() && call("b_evil", json!(1)).await.is_ok());
}

#[tokio::test]
async fn a_method_of_an_extension_goes_to_the_server_that_declares_it() {
    let extension = |name: &str| json!({"tools": {}, "extensions": {name: {}}});
    let a = Fake::new("a", Lists { capabilities: extension("io.x/skills"), ..Lists::default() });
    let b = Fake::new("b", Lists { capabilities: extension("io.x/other"), ..Lists::default() });
    let c = Fake::new("c", Lists { capabilities: extension("io.y/other"), ..Lists::default() });
    let gateway = gateway(&[&a, &b, &c], Rules::default());
    let params = raw(r#"{"q" :1.50,"name":"a_x"}"#);
    let ask = async |view: Option<&str>, method: &'static str| {
        let mut call = Call::new(method, Some(params.clone()));
        call.view = view.map(Into::into);
        gateway.call(call).outcome().await
    };
    let echo = ask(None, "skills/list").await.unwrap();
    assert_eq!(echo.member("server").unwrap().as_str(), "\"a\"");
    assert_eq!(a.calls()[0].params.as_ref().unwrap(), &params);
    for (view, method) in [(None, "other/do"), (None, "nobody/knows"), (Some("nowhere"), "skills/list")] {
        let error = ask(view, method).await.unwrap_err().to_error(Era::Modern);
        assert_eq!(error.code, -32601, "{method}");
    }
    assert!(ask(Some("server/c"), "nobody/knows").await.is_ok(), "one server alone gets everything");
}

#[tokio::test]
async fn notifications_reach_the_servers_they_concern() {
    let extension = json!({"tools": {}, "extensions": {"io.x/skills": {}}});
    let a = Fake::new("a", Lists { capabilities: extension, ..Lists::default() });
    let b = Fake::new("b", Lists::default());
    let gateway = gateway(&[&a, &b], Rules::default());
    for name in [ROOTS_CHANGED, CANCELLED, PROGRESS, "notifications/skills/changed", "notifications/odd"] {
        gateway.notify(Notify { notification: Notification::new(name, None), caller: Caller::local() });
    }
    let received = |fake: &Fake| {
        fake.notices().into_iter().map(|notice| notice.notification.method.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(received(&a), [ROOTS_CHANGED, PROGRESS, "notifications/skills/changed"]);
    assert_eq!(received(&b), [ROOTS_CHANGED, PROGRESS]);
}

#[tokio::test]
async fn senseless_parameters_are_refused_in_words() {
    let a = Fake::new("a", Lists { tools: vec![tool("x")], ..Lists::default() });
    let gateway = gateway(&[&a], Rules::default());
    for (method, params) in [
        (TOOLS_CALL, json!({})),
        (TOOLS_CALL, json!({"name": 7})),
        (TOOLS_CALL, json!([])),
        (PROMPTS_GET, json!(null)),
        (RESOURCES_READ, json!({"uri": {}})),
        (COMPLETE, json!({"ref": {"type": "ref/thing"}})),
        (COMPLETE, json!({"ref": 1})),
        (TASKS_GET, json!({"taskId": 1})),
        (TASKS_GET, json!({"taskId": "x"})),
        (LISTEN, json!({"notifications": 1})),
    ] {
        let error = client().ask(&gateway, method, params.clone()).await.unwrap_err().to_error(Era::Modern);
        assert_eq!(error.code, -32602, "{method} {params}");
    }
    let none = gateway.call(Call::new(TOOLS_CALL, None::<Raw>)).outcome().await;
    assert_eq!(none.unwrap_err().to_error(Era::Modern).code, -32602);
}
