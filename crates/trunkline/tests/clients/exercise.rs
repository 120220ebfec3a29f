//! The exercise of every cell.

use crate::{
    asking::{Asking, QUESTION},
    cell::{Carrier, Cell},
    served::{Served, TEXT},
    visit::{Errand, NAME, Report, visit},
};
use serde_json::{Value, json};

pub(crate) async fn exercise(cell: Cell) {
    let served = Served::start(cell).await;
    let good = ("read_file", json!({"path": "hello.txt"}));
    let bad = ("read_file", json!({"path": 7, "nothing": true}));
    let first = Errand { target: served.target.clone(), calls: vec![good, bad], ..Errand::default() };
    let mut errands = vec![first];
    let asking = if cell.answers() { Some(Asking::start(cell).await) } else { None };
    errands.extend(asking.iter().map(|asking| {
        let calls = vec![("greet", json!({}))];
        Errand { target: asking.target.clone(), calls, ..Errand::default() }
    }));

    let reports = visit(cell, &errands).await;
    assert_eq!(reports.len(), errands.len());
    for report in &reports {
        assert_eq!(report.revision, cell.revision().as_str(), "{report:#?}");
        assert!(report.read.is_empty() && report.prompted.is_empty(), "nobody asked for it: {report:#?}");
    }
    files_were_used(&reports[0]);
    if cell.answers() {
        question_was_answered(&reports[1]);
    }
    if cell.carrier == Carrier::Stdio {
        assert_eq!(served.processes(), Vec::<String>::new(), "the server outlives its client");
    }
}

fn files_were_used(report: &Report) {
    assert!(report.tools.iter().any(|tool| tool == "read_file"), "{report:#?}");
    let [good, bad] = &report.results[..] else { panic!("two results were due: {report:#?}") };
    assert_ne!(good["isError"], true, "{good:#}");
    assert_eq!(good["structuredContent"]["content"], TEXT, "{good:#}");
    let shown: Value = serde_json::from_str(text(good)).unwrap();
    assert_eq!(shown, good["structuredContent"], "the text says what the structured content says");
    assert_eq!(bad["isError"], true, "{bad:#}");
    assert!(text(bad).contains("/path") && text(bad).contains("/nothing"), "{bad:#}");
}

fn question_was_answered(report: &Report) {
    assert_eq!(report.asked, [QUESTION], "{report:#?}");
    assert_eq!(text(&report.results[0]), format!("hello, {NAME}"), "{report:#?}");
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result:#}"))
}
