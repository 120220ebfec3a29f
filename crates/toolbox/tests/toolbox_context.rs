//! Notifications and questions of a running tool.

use serde::Deserialize;
use serde_json::{Value, json};
use trunkline_protocol::{
    Era, Fault,
    message::{ContentBlock, CreateMessageParams, Level, Role, SamplingMessage},
};
use trunkline_toolbox::{Context, Elicited, JsonSchema, Tool, ToolError, Toolbox, Trial};

fn with(tool: Tool) -> Trial {
    Toolbox::new("test", "1.0").tool(tool).build().expect("a toolbox").test()
}

fn code(fault: &Fault) -> i64 {
    fault.to_error(Era::Modern).code
}

async fn works(cx: Context) -> &'static str {
    cx.progress(0, Some(100), "");
    cx.progress(50, Some(100), "half");
    cx.progress(50, Some(100), "again");
    cx.partial(ContentBlock::text("a first line"));
    cx.progress(100, Some(100), "done");
    cx.log(Level::Debug, "works", "details");
    cx.log(Level::Error, "works", json!({"disk": "full"}));
    cx.detach();
    "result"
}

#[tokio::test]
async fn progress_rises_and_carries_the_callers_token() {
    let run = with(Tool::new("works", works)).run_tool("works", json!({})).await;
    let progress: Vec<Value> = run.progress().iter().map(|p| p.to_raw().decode().unwrap()).collect();
    assert_eq!(progress[0], json!({"progressToken": 1, "progress": 0, "total": 100}));
    assert_eq!(progress[1], json!({"progressToken": 1, "progress": 50, "total": 100, "message": "half"}));
    assert_eq!(progress[2]["message"], "a first line");
    assert_eq!(progress[2]["_meta"]["trunkline/partial"], json!({"type": "text", "text": "a first line"}));
    assert_eq!(progress[3]["progress"], 100);
    let values: Vec<f64> = progress.iter().map(|p| p["progress"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    assert_eq!((progress.len(), run.detached), (4, 1));
}

#[tokio::test]
async fn nothing_is_said_to_callers_who_did_not_ask() {
    let trial = with(Tool::new("works", works));
    let silent = json!({"name": "works", "_meta": {"progressToken": null}});
    let quiet = trial.clone().log_level(None).run("tools/call", silent).await;
    assert!(quiet.notifications.is_empty());
    let logs = trial.clone().log_level(Some(Level::Warning)).run_tool("works", json!({})).await.logs();
    assert_eq!(logs.len(), 1);
    assert_eq!(logs[0].to_raw().as_str(), r#"{"level":"error","data":{"disk":"full"},"logger":"works"}"#);
    let odd = json!({"name": "works", "_meta": {"io.modelcontextprotocol/logLevel": "loud"}});
    assert_eq!(code(&trial.run("tools/call", odd).await.outcome.unwrap_err()), -32602);
}

#[tokio::test]
async fn a_flood_of_progress_is_thinned_and_the_result_still_comes() {
    let tool = Tool::new("flood", |cx: Context| async move {
        for i in 0..100_000 {
            cx.progress(i, None, "");
        }
        "through"
    });
    let run = with(tool).run_tool("flood", json!({})).await;
    let progress = run.progress();
    assert!(progress.len() <= 1024);
    assert_eq!(progress.last().unwrap().progress.as_u64(), Some(99_999), "the newest are kept");
    assert!(run.outcome.is_ok());
}

#[expect(dead_code, reason = "only its presence matters")]
#[derive(Debug, Deserialize, JsonSchema)]
struct Confirm {
    /// Really?
    sure: bool,
    name: Option<String>,
}

async fn confirms(cx: Context) -> Result<String, ToolError> {
    Ok(match cx.question("confirm").elicit::<Confirm>("Delete?").await? {
        Elicited::Accepted(answer) => format!("accepted {}", answer.sure),
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    })
}

#[tokio::test]
async fn a_form_comes_from_a_type_and_its_answer_goes_back_into_it() {
    let trial = with(Tool::new("confirms", confirms)).capabilities(json!({"elicitation": {}}));
    let accept = json!({"action": "accept", "content": {"sure": true}});
    let run = trial.clone().answer("elicitation/create", accept).run_tool("confirms", json!({})).await;
    assert!(run.outcome.unwrap().as_str().contains("accepted true"));
    let asked = &run.questions[0];
    let params: Value = asked.params.as_ref().unwrap().decode().unwrap();
    assert_eq!((asked.method.as_str(), asked.key.as_deref()), ("elicitation/create", Some("confirm")));
    assert_eq!(
        params["requestedSchema"],
        json!({
            "type": "object",
            "properties": {"sure": {"type": "boolean", "description": "Really?"}, "name": {"type": "string"}},
            "required": ["sure"]
        })
    );
    assert_eq!((params["mode"].as_str(), params["message"].as_str()), (Some("form"), Some("Delete?")));
    for (answer, text) in [
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "cancel"}), "cancelled"),
        (json!({"action": "accept", "content": {"sure": "maybe"}}), "does not fit the form"),
    ] {
        let run = trial.clone().answer("elicitation/create", answer).run_tool("confirms", json!({})).await;
        assert!(run.outcome.unwrap().as_str().contains(text), "{text}");
    }
    let refused = trial.run_tool("confirms", json!({})).await.result().unwrap();
    assert!(refused.failed(), "nobody answered");
}

#[tokio::test]
async fn a_state_that_nobody_gave_is_refused() {
    let trial = with(Tool::new("confirms", confirms)).capabilities(json!({"elicitation": {}}));
    let answers = json!({"confirm": {"action": "accept", "content": {"sure": true}}});
    let params = json!({"name": "confirms", "inputResponses": answers, "requestState": "made up"});
    let run = trial.run("tools/call", params).await;
    assert_eq!(code(&run.outcome.unwrap_err()), -32602);
    assert!(run.questions.is_empty());
}

#[tokio::test]
async fn an_answer_that_came_with_the_request_is_not_asked_for_again() {
    let trial = with(Tool::new("confirms", confirms)).capabilities(json!({"elicitation": {}}));
    let answers = json!({"confirm": {"action": "accept", "content": {"sure": true}}, "extra": {"x": 1}});
    let run = trial.run("tools/call", json!({"name": "confirms", "inputResponses": answers})).await;
    assert!(run.questions.is_empty());
    assert!(run.outcome.unwrap().as_str().contains("accepted true"));
    for bad in [json!({"confirm": 12345}), Value::Null] {
        let run = trial.run("tools/call", json!({"name": "confirms", "inputResponses": bad})).await;
        assert_eq!(code(&run.outcome.unwrap_err()), -32602);
    }
}

#[tokio::test]
async fn a_client_that_cannot_answer_is_told_what_it_would_need() {
    let sample = Tool::new("sample", |cx: Context| async move {
        let message = SamplingMessage::new(Role::User, ContentBlock::text("hi"));
        let answer = cx.sample(CreateMessageParams::new(vec![message], 10u64)).await?;
        Ok::<_, ToolError>(answer.model)
    });
    let roots = Tool::new("roots", |cx: Context| async move {
        Ok::<_, ToolError>(cx.roots().await?.iter().map(|r| r.uri.clone()).collect::<String>())
    });
    let url = Tool::new("url", |cx: Context| async move {
        Ok::<_, ToolError>(cx.elicit_url("Go", "https://example.com/").await?.action.to_string())
    });
    let toolbox = Toolbox::new("t", "1").tool(sample).tool(roots).tool(url).build().expect("a toolbox");
    for (tool, required) in [
        ("sample", json!({"sampling": {}})),
        ("roots", json!({"roots": {}})),
        ("url", json!({"elicitation": {"url": {}}})),
    ] {
        let run = toolbox.test().capabilities(json!({"elicitation": {}})).run_tool(tool, json!({})).await;
        assert!(run.questions.is_empty());
        let error = run.outcome.unwrap_err().to_error(Era::Modern);
        assert_eq!(error.code, -32021);
        let data: Value = error.data.unwrap().decode().unwrap();
        assert_eq!(data["requiredCapabilities"], required);
    }
    let able = json!({"sampling": {}, "roots": {}, "elicitation": {"url": {}}});
    let sampled = json!({"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m-1"});
    let trial = toolbox.test().capabilities(able).answer("sampling/createMessage", sampled);
    let trial = trial.answer("roots/list", json!({"roots": [{"uri": "file:///a"}]}));
    let trial = trial.answer("elicitation/create", json!({"action": "accept"}));
    for (tool, text) in [("sample", "m-1"), ("roots", "file:///a"), ("url", "accept")] {
        assert!(trial.call(tool, json!({})).await.to_raw().as_str().contains(text), "{tool}");
    }
}
