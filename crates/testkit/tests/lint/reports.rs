//! Reports in every format, for a server with several faults.

use super::fixture::dial;
use serde_json::Value;
use trunkline_lint::{
    Baseline, Ignore, Level, Options, Report, Subject,
    engine::ServerSubject,
    report::{self, Detail},
};
use trunkline_testkit::faulty::Script;

const FAULTS: &str = r#"{"faults": [
    {"when": {"kind": "start"}, "do": {"before": ["ready <b>&\\u001b[31m"]}},
    {"when": {"method": "tools/list"}, "do": {"set": {"/result/tools/0/description": ""}}},
    {"when": {"method": "ping", "era": "legacy"}, "do": {"result": {"pong": 1}}}
]}"#;

async fn faulty() -> Report {
    lint(FAULTS).await
}

async fn lint(faults: &str) -> Report {
    let script = Script::parse(faults).expect("the script is right");
    let subject = ServerSubject { name: "server".to_owned(), dial: dial(&script, "stdio").await, lock: None };
    trunkline_lint::lint(&[Subject::Server(subject)], &Options::default()).await
}

#[tokio::test(start_paused = true)]
async fn the_json_form_fits_its_published_schema() {
    let report = serde_json::to_value(faulty().await).expect("a report can be written");
    let validator = jsonschema::validator_for(&report::schema()).expect("the schema is right");
    let errors: Vec<String> =
        validator.iter_errors(&report).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[tokio::test(start_paused = true)]
async fn sarif_names_each_rule_once_and_points_to_it() {
    let report = faulty().await;
    let sarif = report::sarif(&report);
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("there are rules");
    for result in run["results"].as_array().expect("there are results") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small one");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(result["partialFingerprints"]["trunklineLint/v1"].is_string());
    }
    assert_eq!(run["results"].as_array().map(Vec::len), Some(report.findings().count()));
}

#[tokio::test(start_paused = true)]
async fn junit_counts_what_fails_and_holds_no_control_characters() {
    let report = faulty().await;
    let xml = report::junit(&report, Some(Level::Error));
    assert!(!xml.chars().any(|c| c.is_control() && c != '\n'), "{xml}");
    assert!(xml.contains("failures=\"2\"") && xml.contains("ready &lt;b&gt;&amp;"), "{xml}");
    assert_eq!(xml.matches("<testcase").count(), report.targets[0].rules.len());
    assert!(!report::junit(&report, None).contains("<failure"));
}

#[tokio::test(start_paused = true)]
async fn annotations_stand_on_one_line_each() {
    let report = faulty().await;
    let text = report::github(&report);
    assert_eq!(text.lines().count(), report.findings().count());
    assert!(text.lines().all(|line| line.starts_with("::")), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_servers_text_neither_steers_a_terminal_nor_marks_up_a_page() {
    let report = faulty().await;
    let text = report::text(&report, Detail::Findings);
    assert!(!text.contains("\u{1b}[31m") || !text.contains("ready <b>&\u{1b}"), "{text}");
    assert!(!report::markdown(&report).contains("beginning with \"ready <b>"));
}

#[tokio::test(start_paused = true)]
async fn no_form_prints_the_secret_that_was_found() {
    let secret = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";
    let faults = serde_json::json!({"faults": [
        {"when": {"method": "tools/list"}, "do": {"set": {"/result/tools/0/description": format!("Uses {secret}.")}}},
        {"when": {"method": "resources/read"}, "do": {"set": {"/result/contents/0/text": format!("key {secret}")}}},
    ]});
    let report = lint(&faults.to_string()).await;
    let found: Vec<&str> = report.findings().map(|(_, finding)| finding.rule).collect();
    assert!(found.contains(&"secrets-in-texts") && found.contains(&"secrets-in-results"), "{found:?}");
    for form in [
        serde_json::to_string(&report).expect("a report can be written"),
        report::text(&report, Detail::Everything),
        report::markdown(&report),
        report::sarif(&report).to_string(),
        report::junit(&report, Some(Level::Info)),
        report::github(&report),
    ] {
        assert!(!form.contains(&secret[..12]), "{form}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_baseline_takes_known_findings_out_of_the_count() {
    let mut report = faulty().await;
    let baseline = Baseline::of(&report);
    let text = serde_json::to_string(&baseline).expect("a baseline can be written");
    let read: Baseline = serde_json::from_str(&text).expect("and read");
    assert_eq!(read, baseline);
    assert!(read.apply(&mut report).is_empty());
    assert_eq!(report.worst(), None);
    assert_eq!(report.summary.ignored, baseline.findings.len());
    let mut clean = trunkline_lint::Report::new(Vec::new());
    assert_eq!(read.apply(&mut clean).len(), baseline.findings.len());
}

#[tokio::test(start_paused = true)]
async fn an_ignore_covers_one_subject_only() {
    let mut report = faulty().await;
    let before = report.summary.ignored;
    let other: Ignore = "tool-description:echo=shown elsewhere".parse().expect("an ignore");
    trunkline_lint::ignore(&mut report, &[other]);
    assert_eq!(report.summary.ignored, before);
    let this: Ignore = "tool-description:add=shown elsewhere".parse().expect("an ignore");
    trunkline_lint::ignore(&mut report, &[this]);
    assert_eq!(report.summary.ignored, before + 1);
    let json: Value = serde_json::to_value(&report).expect("a report can be written");
    assert!(json.to_string().contains("shown elsewhere"));
}
