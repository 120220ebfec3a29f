//! Lists, resources, prompts, completion and change notifications.

use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use trunkline_protocol::{Caller, Era, Fault, Handler, Part, Reply};
use trunkline_toolbox::{
    BuildError, JsonSchema, Prompt, ReadRequest, Resource, Template, Tool, ToolError, Toolbox, Trial,
};

fn named(id: &str) -> Caller {
    Caller::named(id)
}

fn code(fault: &Fault) -> i64 {
    fault.to_error(Era::Modern).code
}

async fn ask(trial: &Trial, method: &str, params: Value) -> Result<Value, Fault> {
    trial.run(method, params).await.outcome.map(|result| result.decode().expect("JSON"))
}

fn tool(name: impl Into<String>) -> Tool {
    Tool::new(name, || async {})
}

fn many() -> Toolbox {
    let tools = (0..7).map(|i| {
        let tool = tool(format!("t{i}"));
        if i == 3 { tool.require_scope("hidden") } else { tool }
    });
    Toolbox::new("test", "1.0").tools(tools).page_size(2).build().expect("a toolbox")
}

fn names(page: &Value) -> Vec<&str> {
    page["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn pages_come_in_order_without_gaps_and_without_what_is_hidden() {
    let trial = many().test();
    let (mut all, mut cursor) = (Vec::new(), json!({}));
    loop {
        let page = ask(&trial, "tools/list", cursor).await.unwrap();
        all.extend(names(&page).into_iter().map(str::to_owned));
        assert!(names(&page).len() <= 2);
        match page.get("nextCursor") {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    assert_eq!(all, ["t0", "t1", "t2", "t4", "t5", "t6"]);
}

#[tokio::test]
async fn a_page_goes_on_where_the_last_one_ended_whatever_changed_since() {
    let toolbox = many();
    let trial = toolbox.test();
    let first = ask(&trial, "tools/list", json!({})).await.unwrap();
    assert!(toolbox.handle().remove_tool("t1"));
    toolbox.handle().add_tool(tool("t9")).unwrap();
    let next = ask(&trial, "tools/list", json!({"cursor": first["nextCursor"]})).await.unwrap();
    assert_eq!(names(&next), ["t2", "t4"]);
}

#[tokio::test]
async fn m06_a_cursor_that_is_forged_or_foreign_is_refused() {
    let trial = many().test();
    let page = ask(&trial, "tools/list", json!({})).await.unwrap();
    let cursor = page["nextCursor"].as_str().unwrap();
    let other_end = format!("5{}", &cursor[1..]);
    for forged in [
        "",
        "1",
        "x",
        "2.0",
        &other_end,
        &cursor.to_uppercase(),
        &format!("{cursor}0"),
        &format!("0{cursor}"),
    ] {
        let refused = ask(&trial, "tools/list", json!({"cursor": forged})).await;
        assert_eq!(code(&refused.unwrap_err()), -32602, "{forged}");
    }
    let foreign = trial.clone().caller(named("other"));
    assert!(ask(&foreign, "tools/list", json!({"cursor": cursor})).await.is_err(), "of another caller");
    assert!(ask(&trial, "prompts/list", json!({"cursor": cursor})).await.is_err(), "of another list");
    assert!(ask(&many().test(), "tools/list", json!({"cursor": cursor})).await.is_err(), "of another server");
    assert!(ask(&trial, "tools/list", json!({"cursor": cursor})).await.is_ok());
}

fn library() -> Toolbox {
    let echo = Template::new("test://template/{id}/data", "echo", |_, request: ReadRequest| async move {
        match request.variables["id"].as_str() {
            "missing" => Err(ToolError::not_found("no such id")),
            "broken" => Err(ToolError::new("out of order")),
            id => Ok(json!({"id": id}).to_string()),
        }
    });
    Toolbox::new("test", "1.0")
        .resource(Resource::text("test://text", "text", "hello").description("A text"))
        .resource(Resource::bytes("test://bytes", "bytes", [0u8, 255]).mime_type("image/png"))
        .resource(Resource::text("test://secret", "secret", "42").require_role("root"))
        .template(echo.mime_type("application/json").complete_from("id", ["alpha", "beta", "alps"]))
        .build()
        .expect("a toolbox")
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let trial = library().test();
    let listed = ask(&trial, "resources/list", json!({})).await.unwrap();
    let uris: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()).collect();
    assert_eq!(uris, ["test://text", "test://bytes"]);
    let listed = ask(&trial, "resources/templates/list", json!({})).await.unwrap();
    assert_eq!(listed["resourceTemplates"][0]["uriTemplate"], "test://template/{id}/data");
    for (uri, contents) in [
        ("test://text", json!({"uri": "test://text", "text": "hello", "mimeType": "text/plain"})),
        ("test://bytes", json!({"uri": "test://bytes", "blob": "AP8=", "mimeType": "image/png"})),
        (
            "test://template/a%20b/data",
            json!({"uri": "test://template/a%20b/data", "text": r#"{"id":"a b"}"#, "mimeType": "application/json"}),
        ),
    ] {
        let read = ask(&trial, "resources/read", json!({"uri": uri})).await.unwrap();
        assert_eq!(read["contents"], json!([contents]));
    }
}

#[tokio::test]
async fn x05_what_is_not_there_or_not_allowed_is_not_found() {
    let trial = library().test();
    for uri in [
        "test://absent",
        "test://secret",
        "test://template/missing/data",
        "test://template/../data",
        "test://template/%2e%2e/data",
        "test://template/a/b/data",
        "trunkline://result/1?offset=0",
    ] {
        let error =
            ask(&trial, "resources/read", json!({"uri": uri})).await.unwrap_err().to_error(Era::Modern);
        assert_eq!(error.code, -32602, "{uri}");
        assert_eq!(error.data.unwrap().member_as::<String>("uri").unwrap(), uri);
    }
    let broken = ask(&trial, "resources/read", json!({"uri": "test://template/broken/data"})).await;
    assert_eq!(code(&broken.unwrap_err()), -32603);
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// What to review
    code: String,
    style: Option<String>,
}

fn prompts() -> Toolbox {
    let review = Prompt::new("review", |args: Review| async move {
        format!("Review {} ({})", args.code, args.style.unwrap_or_default())
    });
    let numbers = Prompt::new("numbers", || async { "Count" })
        .complete("n", |_, _| async { Ok((0..250).map(|n| n.to_string()).collect()) });
    Toolbox::new("test", "1.0")
        .prompt(review.description("Reviews").complete_from("style", ["strict", "kind", "short"]))
        .prompt(numbers)
        .prompt(Prompt::new("secret", || async { "x" }).require_scope("s"))
        .build()
        .expect("a toolbox")
}

#[tokio::test]
async fn a_prompts_arguments_are_the_fields_of_its_type() {
    let trial = prompts().test();
    let listed = ask(&trial, "prompts/list", json!({})).await.unwrap();
    assert_eq!(
        listed["prompts"][0],
        json!({
            "name": "review", "description": "Reviews", "arguments": [
                {"name": "code", "description": "What to review", "required": true},
                {"name": "style", "required": false}
            ]
        })
    );
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 2);
    let got =
        ask(&trial, "prompts/get", json!({"name": "review", "arguments": {"code": "x"}})).await.unwrap();
    assert_eq!(
        got,
        json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "Review x ()"}}],
            "description": "Reviews"
        })
    );
    for bad in [
        json!({"name": "review"}),
        json!({"name": "review", "arguments": {"code": 7}}),
        json!({"name": "absent"}),
        json!({"name": "secret"}),
    ] {
        assert_eq!(code(&ask(&trial, "prompts/get", bad).await.unwrap_err()), -32602);
    }
}

#[tokio::test]
async fn arguments_are_completed_a_hundred_at_most() {
    let trial = prompts().test();
    let complete = |reference: Value, name: &str, value: &str| {
        let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
        let trial = trial.clone();
        async move { ask(&trial, "completion/complete", params).await.map(|r| r["completion"].clone()) }
    };
    let review = json!({"type": "ref/prompt", "name": "review"});
    let styles = complete(review.clone(), "style", "s").await.unwrap();
    assert_eq!(styles, json!({"values": ["strict", "short"], "total": 2, "hasMore": false}));
    assert_eq!(complete(review, "code", "x").await.unwrap()["values"], json!([]));
    let numbers = complete(json!({"type": "ref/prompt", "name": "numbers"}), "n", "").await.unwrap();
    assert_eq!(numbers["values"].as_array().unwrap().len(), 100);
    assert_eq!((&numbers["total"], &numbers["hasMore"]), (&json!(250), &json!(true)));
    for unknown in [json!({"type": "ref/prompt", "name": "secret"}), json!({"type": "ref/odd"})] {
        assert_eq!(code(&complete(unknown, "n", "").await.unwrap_err()), -32602);
    }
    let template = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
    let params = json!({"ref": template, "argument": {"name": "id", "value": "al"}});
    let ids = ask(&library().test(), "completion/complete", params).await.unwrap();
    assert_eq!(ids["completion"]["values"], json!(["alpha", "alps"]));
}

fn listen(toolbox: &Toolbox, caller: &str, filter: &Value) -> Reply {
    let trial = toolbox.test().caller(named(caller));
    toolbox.call(trial.request("subscriptions/listen", json!({"notifications": filter})))
}

fn next(reply: &mut Reply) -> Option<(String, Value)> {
    match reply.next().now_or_never()?? {
        Part::Notification(n) => {
            Some((n.method.to_string(), n.params.map_or(Value::Null, |p| p.decode().expect("JSON"))))
        }
        other => panic!("not a notification: {other:?}"),
    }
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
    let toolbox = library();
    let wish = json!({
        "toolsListChanged": true, "promptsListChanged": false,
        "resourceSubscriptions": ["test://text", "test://secret", "test://absent", "test://template/7/data"],
        "taskIds": ["somebody-elses"]
    });
    let mut all = listen(&toolbox, "a", &wish);
    let (method, accepted) = next(&mut all).unwrap();
    assert_eq!(method, "notifications/subscriptions/acknowledged");
    assert_eq!(
        accepted["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["test://text", "test://template/7/data"]})
    );
    let handle = toolbox.handle();
    handle.add_prompt(Prompt::new("p", || async { "p" })).unwrap();
    handle.resource_updated("test://bytes");
    handle.resource_updated("test://secret");
    assert_eq!(next(&mut all), None);
    handle.add_tool(tool("new")).unwrap();
    assert_eq!(next(&mut all).unwrap().0, "notifications/tools/list_changed");
    handle.resource_updated("test://text");
    let updated = next(&mut all).unwrap();
    assert_eq!(updated, ("notifications/resources/updated".to_owned(), json!({"uri": "test://text"})));
    assert!(!handle.remove_tool("absent"));
    assert_eq!(handle.add_tool(tool("new")), Err(BuildError::NameTaken("new".to_owned())));
    assert_eq!(next(&mut all), None, "what changed nothing is no change");
}

#[tokio::test]
async fn a_tool_can_change_the_toolbox_it_belongs_to() {
    let grow = Tool::new("grow", |cx: trunkline_toolbox::Context| async move {
        let added = cx.toolbox().add_tool(tool("grown"));
        added.map_err(|e| ToolError::new(e.to_string()))
    });
    let toolbox = Toolbox::new("test", "1.0").tool(grow).build().expect("a toolbox");
    let mut changes = listen(&toolbox, "a", &json!({"toolsListChanged": true}));
    next(&mut changes).unwrap();
    assert!(!toolbox.test().call("grow", json!({})).await.failed());
    assert_eq!(next(&mut changes).unwrap().0, "notifications/tools/list_changed");
    assert!(!toolbox.test().call("grown", json!({})).await.failed());
}

#[tokio::test]
async fn m08_listeners_are_bounded_and_slow_ones_are_dropped() {
    let toolbox = library();
    let mut open: Vec<Reply> =
        (0..32).map(|_| listen(&toolbox, "greedy", &json!({"toolsListChanged": true}))).collect();
    for reply in &mut open {
        assert!(next(reply).is_some());
    }
    let refused = listen(&toolbox, "greedy", &json!({})).outcome().now_or_never().unwrap();
    assert!(refused.unwrap_err().message().contains("too many subscriptions"));
    let mut other = listen(&toolbox, "other", &json!({"toolsListChanged": true}));
    assert!(next(&mut other).is_some(), "one caller's greed is not another's loss");
    open.truncate(1);
    let mut slow = open.pop().unwrap();
    for i in 0..100 {
        toolbox.handle().add_tool(tool(format!("t{i}"))).unwrap();
        assert!(next(&mut other).is_some());
    }
    let mut heard = 0;
    let fault = loop {
        let part = tokio::time::timeout(Duration::from_secs(5), slow.next()).await.expect("it is over");
        match part.expect("not without an end") {
            Part::Notification(_) => heard += 1,
            Part::Final(outcome) => break outcome.unwrap_err(),
            other => panic!("{other:?}"),
        }
    };
    assert!(heard <= 64 && fault.message().contains("not read fast enough"), "{heard} {fault}");
}

#[tokio::test]
async fn discover_tells_who_and_what() {
    let discovered = ask(&prompts().test(), "server/discover", json!({})).await.unwrap();
    assert_eq!(discovered["supportedVersions"][0], "2026-07-28");
    assert_eq!(
        discovered["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({"name": "test", "version": "1.0"})
    );
    let capabilities = &discovered["capabilities"];
    assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
    assert_eq!(capabilities["completions"], json!({}));
    assert_eq!(capabilities.get("extensions"), None);
    assert_eq!(
        ask(&many().test(), "server/discover", json!({})).await.unwrap()["capabilities"].get("prompts"),
        None
    );
}
