//! Notifications of a server: progress, logs and changes.

use super::{Run, ask::make};
use crate::{
    recorder::Recorded,
    script::{Call, Log},
};
use serde_json::Value;
use trunkline_client::{Change, Interest};
use trunkline_protocol::{message::Level, method};

pub(super) async fn progress(run: &Run) {
    let Some(progress) = &run.script.progress else { return };
    let call = &progress.call;
    let mut seen = Vec::new();
    let hear = |params: trunkline_protocol::message::ProgressParams| seen.push(params.progress.to_string());
    let result = run.client.call(call.tool, call.arguments()).on_progress(hear).await.unwrap();
    assert!(!result.failed(), "{result:?}");
    let seen: Vec<f64> = seen.iter().map(|text| text.parse().unwrap()).collect();
    let wanted: Vec<f64> = (1..=progress.steps).map(f64::from).collect();
    assert_eq!(seen, wanted);
}

pub(super) async fn logs(run: &Run) {
    match &run.script.log {
        None => run.must_lack("logging"),
        Some(Log::EachLevel(call)) => each_level(run, call).await,
        Some(Log::Random(call)) => {
            run.client.set_log_level(Level::Debug).await.unwrap();
            make(&run.client, call).await;
            let text =
                |event: &Recorded| level(event, "-level message").or_else(|| level(event, " level-message"));
            run.recorder.until(text).await;
            make(&run.client, call).await;
        }
    }
}

/// Checks that only messages of the requested level or above arrive.
async fn each_level(run: &Run, call: &Call) {
    let text = call.arguments["text"].as_str().unwrap();
    run.client.set_log_level(Level::Warning).await.unwrap();
    make(&run.client, call).await;
    run.recorder.until(|event| level(event, text).filter(|level| level == "error")).await;
    let seen: Vec<_> = run.recorder.all().iter().filter_map(|event| level(event, text)).collect();
    assert_eq!(seen, ["warning", "error"]);
}

/// Returns the level if this is a log message with this text.
fn level(event: &Recorded, text: &str) -> Option<String> {
    let Recorded::Notice { method, params } = event else { return None };
    let said = params["data"].to_string().contains(text);
    (method == method::MESSAGE && said).then(|| params["level"].as_str().unwrap().to_owned())
}

pub(super) async fn updates(run: &Run) {
    let (Some(call), Some(uri)) = (&run.script.update, run.script.resource) else {
        return run.must_lack("resources.subscribe");
    };
    let interest = Interest { uris: vec![uri.to_owned()], ..Interest::default() };
    let mut subscription = run.client.subscribe(interest).await.unwrap();
    make(&run.client, call).await;
    assert_eq!(subscription.next().await, Some(Change::Resource { uri: uri.to_owned() }));
}

/// Adds a tool: the subscriber is notified, and the cached list is invalidated.
pub(super) async fn growth(run: &Run) {
    let Some((call, tool)) = &run.script.growth else { return };
    let listed = async || run.client.tools().await.unwrap().items.iter().any(|item| item.name == *tool);
    let lists = || run.recorder.count(|event| event.request(method::TOOLS_LIST).is_some());
    let before = lists();
    assert!(!listed().await);
    assert_eq!(lists(), before, "the list was kept");
    let interest = Interest { tools: true, ..Interest::default() };
    let mut subscription = run.client.subscribe(interest).await.unwrap();
    make(&run.client, call).await;
    assert_eq!(subscription.next().await, Some(Change::Tools));
    assert_eq!(lists(), before, "the list is asked for when it is wanted, and not before");
    assert!(listed().await);
    assert_eq!(lists(), before + 1);
    let frame: Option<Value> = run.recorder.find(|event| event.request(method::LISTEN));
    assert_eq!(frame.is_some(), run.cell.era == trunkline_protocol::Era::Modern);
}
