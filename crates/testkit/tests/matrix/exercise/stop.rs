//! Cancelled calls: the server is notified, and the connection remains usable.

use super::{Run, ask::make};
use crate::{
    recorder::Recorded,
    script::{Call, Proof},
};
use serde_json::Value;
use tokio::sync::mpsc;
use trunkline_client::Carrier;
use trunkline_protocol::{Era, method};

/// Cancels a call as soon as it is sent.
pub(super) async fn at_once(run: &Run) {
    let call = &run.script.call;
    let before = run.recorder.all().len();
    let sent = run.recorder.until_after(before, |event| event.request(method::TOOLS_CALL));
    let id = tokio::select! {
        biased;
        result = run.client.call(call.tool, call.arguments()) => panic!("answered too early: {result:?}"),
        id = sent => id,
    };
    said_so(run, &id).await;
    make(&run.client, call).await;
}

/// Cancels a call while the server works on it.
pub(super) async fn halfway(run: &Run) {
    let Some(cancel) = &run.script.cancel else { return };
    let before = run.recorder.all().len();
    match &cancel.proof {
        Proof::HungUp => {
            tokio::select! {
                result = run.client.call(cancel.call.tool, cancel.call.arguments()) => panic!("{result:?}"),
                () = run.site.connected() => {}
            }
        }
        Proof::Counted(_) | Proof::Unanswered { .. } => leave_after_progress(run, &cancel.call).await,
    }
    let id = run.recorder.until_after(before, |event| event.request(method::TOOLS_CALL)).await;
    said_so(run, &id).await;
    match &cancel.proof {
        Proof::HungUp => run.site.all_closed().await,
        Proof::Counted(wait) => {
            make(&run.client, wait).await;
        }
        Proof::Unanswered { last_step } => unanswered(run, &id, *last_step).await,
    }
    assert_eq!(run.recorder.count(|event| event.answers(&id)), 0, "a cancelled call is not answered");
    make(&run.client, &run.script.call).await;
}

async fn leave_after_progress(run: &Run, call: &Call) {
    let (tell, mut steps) = mpsc::unbounded_channel();
    let pending = run.client.call(call.tool, call.arguments()).on_progress(move |step| drop(tell.send(step)));
    tokio::select! {
        result = pending => panic!("{result:?}"),
        step = steps.recv() => assert!(step.is_some()),
    }
}

/// Checks the cancellation: a notification in the legacy era and over stdio; over HTTP in the
/// modern era closing the stream cancels the call.
async fn said_so(run: &Run, id: &Value) {
    if run.cell.era == Era::Modern && run.cell.carrier == Carrier::StreamableHttp {
        return assert_eq!(run.recorder.count(|event| event.cancels(id)), 0);
    }
    run.recorder.until(|event| event.cancels(id).then_some(())).await;
}

/// The server runs all its steps in spite of the cancellation, so wait for the last one before
/// checking that there is no response. Over HTTP nothing more arrives, as the stream is closed.
async fn unanswered(run: &Run, id: &Value, last_step: u32) {
    if run.cell.carrier == Carrier::StreamableHttp {
        return;
    }
    let last = |event: &Recorded| match event {
        Recorded::Received(frame) => {
            let params = &frame["params"];
            (params["progressToken"] == *id && params["progress"] == last_step).then_some(())
        }
        _ => None,
    };
    run.recorder.until(last).await;
    run.client.ping().await.unwrap();
}
