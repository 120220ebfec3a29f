//! The correct server causes no finding above info, over every transport and in each era.

use super::fixture::{LONGEST, dial};
use trunkline_lint::{
    Level, Options, Subject,
    engine::ServerSubject,
    report::{self, Detail},
};
use trunkline_testkit::faulty::Script;

async fn is_clean(eras: &[&str], over: &str) {
    let script = Script { eras: eras.iter().map(ToString::to_string).collect(), ..Script::default() };
    let subject = Subject::Server(ServerSubject {
        name: "server".to_owned(),
        dial: dial(&script, over).await,
        lock: None,
    });
    let began = std::time::Instant::now();
    let report = trunkline_lint::lint(&[subject], &Options::default()).await;
    let text = report::text(&report, Detail::Findings);
    assert!(report.worst().is_none_or(|worst| worst == Level::Info), "{text}");
    assert_eq!(report.summary.unreachable, 0, "{text}");
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_right_server_of_both_eras_is_clean_inside() {
    is_clean(&[], "stdio").await;
}

#[tokio::test]
async fn a_right_server_of_both_eras_is_clean_as_a_process() {
    is_clean(&[], "process").await;
}

#[tokio::test]
async fn a_right_server_of_both_eras_is_clean_over_http() {
    is_clean(&[], "http").await;
}

#[tokio::test]
async fn a_right_legacy_server_is_clean() {
    is_clean(&["legacy"], "process").await;
    is_clean(&["legacy"], "http").await;
}

#[tokio::test]
async fn a_right_modern_server_is_clean() {
    is_clean(&["modern"], "process").await;
    is_clean(&["modern"], "http").await;
}
