//! Tools called through a toolbox: what comes in, what comes out, and what is refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trunkline_tools::{Context, Json, Tool, ToolError, Toolbox, schemars};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn add(args: Add) -> Result<Json<Sum>, ToolError> {
    let sum =
        args.a.checked_add(args.b).ok_or_else(|| ToolError::new("the sum is too large").hint("Use less"))?;
    Ok(Json(Sum { sum }))
}

async fn hello(cx: Context) -> String {
    format!("hello, {}", cx.caller().id)
}

fn toolbox() -> Toolbox {
    Toolbox::new("test", "1.0")
        .tool(Tool::new("add", add).description("Adds").read_only())
        .tool(Tool::new("hello", hello))
        .tool(Tool::new("nothing", || async {}))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_function_is_a_tool() {
    let toolbox = toolbox();
    let sum = toolbox.test().call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(sum.structured_content.unwrap().as_str(), r#"{"sum":3}"#);
    let hello = toolbox.test().call("hello", json!({})).await.to_raw();
    assert_eq!(hello.as_str(), r#"{"content":[{"type":"text","text":"hello, local"}]}"#);
    assert!(!toolbox.test().call("nothing", json!({})).await.failed());
}
