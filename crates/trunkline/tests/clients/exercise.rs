//! What is done in every cell.

use crate::{
    asking::{Asking, QUESTION},
    cell::{Carrier, Cell},
    served::{Served, TEXT},
    visit::{NAME, visit},
};
use serde_json::{Value, json};

pub(crate) async fn exercise(cell: Cell) {
    use_files(cell).await;
    if cell.answers() {
        be_asked(cell).await;
    }
}

async fn use_files(cell: Cell) {
    let served = Served::start(cell).await;
    let calls =
        [("read_file", json!({"path": "hello.txt"})), ("read_file", json!({"path": 7, "nothing": true}))];
    let report = visit(cell, &served.target, &calls).await;
    if cell.carrier == Carrier::Stdio {
        assert_eq!(served.processes(), Vec::<String>::new(), "the server outlives its client");
    }
    assert_eq!(report.revision, cell.revision().as_str(), "{report:#?}");
    assert!(report.tools.iter().any(|tool| tool == "read_file"), "{report:#?}");
    let [good, bad] = &report.results[..] else { panic!("two results were due: {report:#?}") };
    assert_ne!(good["isError"], true, "{good:#}");
    assert_eq!(good["structuredContent"]["content"], TEXT, "{good:#}");
    let shown: Value = serde_json::from_str(text(good)).unwrap();
    assert_eq!(shown, good["structuredContent"], "the text says what the structured content says");
    assert_eq!(bad["isError"], true, "{bad:#}");
    assert!(text(bad).contains("/path") && text(bad).contains("/nothing"), "{bad:#}");
}

async fn be_asked(cell: Cell) {
    let asking = Asking::start(cell).await;
    let report = visit(cell, &asking.target, &[("greet", json!({}))]).await;
    assert_eq!(report.asked, [QUESTION], "{report:#?}");
    assert_eq!(text(&report.results[0]), format!("hello, {NAME}"), "{report:#?}");
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result:#}"))
}
