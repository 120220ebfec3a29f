//! URL elicitation: requested during a call, and required by an error before the call.

use crate::{
    cell::{Cell, Server, Way},
    exercise::{Run, make},
    recorder::Recorded,
    script::Call,
};
use serde_json::{Value, json};
use trunkline_client::Carrier;
use trunkline_protocol::{Era, method};

async fn visit(cell: Cell, call: Call, url: &str) {
    let run = Run::begin(cell).await;
    make(&run.client, &call).await;
    let page = |event: &Recorded| match event {
        Recorded::Asked { method, params } if method == method::ELICIT => Some(params.clone()),
        _ => None,
    };
    let asked: Vec<Value> = run.recorder.all().iter().filter_map(page).collect();
    assert_eq!(asked[0]["mode"], "url");
    assert_eq!(asked[0]["url"], url);
    assert!(asked[0]["message"].is_string());
    run.client.close().await;
}

macro_rules! visits {
    ($($name:ident: $carrier:ident, $era:ident, $tool:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let cell =
                Cell { server: Server::Rmcp, carrier: Carrier::$carrier, era: Era::$era, way: Way::Auto };
            let call = Call::new($tool, json!({}), "visited: accept");
            visit(cell, call, "https://example.com/consent?for=matrix").await;
        }
    )*};
}

visits! {
    asked_for_over_stdio_by_a_legacy_server: Stdio, Legacy, "visit";
    asked_for_over_stdio_by_a_modern_server: Stdio, Modern, "visit";
    asked_for_over_http_by_a_legacy_server: StreamableHttp, Legacy, "visit";
    asked_for_over_http_by_a_modern_server: StreamableHttp, Modern, "visit";
    insisted_on_over_stdio_with_error_32042: Stdio, Legacy, "visit_first";
    insisted_on_over_http_with_error_32042: StreamableHttp, Legacy, "visit_first";
}

#[tokio::test]
async fn insisted_on_by_server_everything_with_error_32042() {
    let cell = Cell { server: Server::Everything, carrier: Carrier::Stdio, era: Era::Legacy, way: Way::Auto };
    let arguments = json!({"url": "https://example.com/", "errorPath": true});
    // The error requires the server's own URL; the URL in the arguments is requested later, during
    // the call.
    visit(
        cell,
        Call::new("trigger-url-elicitation", arguments, "completed"),
        "https://modelcontextprotocol.io",
    )
    .await;
}
