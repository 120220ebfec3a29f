//! What a server tells unasked: progress, logs and changes.

use super::{Run, ask::make};
use crate::{
    ear::Heard,
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
                |heard: &Heard| level(heard, "-level message").or_else(|| level(heard, " level-message"));
            run.ear.until(text).await;
            make(&run.client, call).await;
        }
    }
}

/// Only what is as grave as asked for arrives.
async fn each_level(run: &Run, call: &Call) {
    let text = call.arguments["text"].as_str().unwrap();
    run.client.set_log_level(Level::Warning).await.unwrap();
    make(&run.client, call).await;
    run.ear.until(|heard| level(heard, text).filter(|level| level == "error")).await;
    let seen: Vec<_> = run.ear.all().iter().filter_map(|heard| level(heard, text)).collect();
    assert_eq!(seen, ["warning", "error"]);
}

/// The level of a log message with this text.
fn level(heard: &Heard, text: &str) -> Option<String> {
    let Heard::Notice { method, params } = heard else { return None };
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

/// A tool comes to be: the one who subscribed hears of it, and the list that was kept is no longer used.
pub(super) async fn growth(run: &Run) {
    let Some((call, tool)) = &run.script.growth else { return };
    let listed = async || run.client.tools().await.unwrap().items.iter().any(|item| item.name == *tool);
    let lists = || run.ear.count(|heard| heard.request(method::TOOLS_LIST).is_some());
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
    let frame: Option<Value> = run.ear.find(|heard| heard.request(method::LISTEN));
    assert_eq!(frame.is_some(), run.cell.era == trunkline_protocol::Era::Modern);
}
