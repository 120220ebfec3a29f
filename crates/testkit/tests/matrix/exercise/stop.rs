//! Calls that are given up: the server hears of it, and the connection goes on.

use super::{Run, ask::make};
use crate::{
    ear::Heard,
    script::{Call, Proof},
};
use serde_json::Value;
use tokio::sync::mpsc;
use trunkline_client::Carrier;
use trunkline_protocol::{Era, method};

/// Gives a call up as soon as it is on its way.
pub(super) async fn at_once(run: &Run) {
    let call = &run.script.call;
    let before = run.ear.all().len();
    let sent = run.ear.until_after(before, |heard| heard.request(method::TOOLS_CALL));
    let id = tokio::select! {
        biased;
        result = run.client.call(call.tool, call.arguments()) => panic!("answered too early: {result:?}"),
        id = sent => id,
    };
    said_so(run, &id).await;
    make(&run.client, call).await;
}

/// Gives a call up in its midst.
pub(super) async fn halfway(run: &Run) {
    let Some(cancel) = &run.script.cancel else { return };
    let before = run.ear.all().len();
    match &cancel.proof {
        Proof::HungUp => {
            tokio::select! {
                result = run.client.call(cancel.call.tool, cancel.call.arguments()) => panic!("{result:?}"),
                () = run.site.visited() => {}
            }
        }
        Proof::Counted(_) | Proof::Unanswered { .. } => leave_after_progress(run, &cancel.call).await,
    }
    let id = run.ear.until_after(before, |heard| heard.request(method::TOOLS_CALL)).await;
    said_so(run, &id).await;
    match &cancel.proof {
        Proof::HungUp => run.site.deserted().await,
        Proof::Counted(wait) => {
            make(&run.client, wait).await;
        }
        Proof::Unanswered { last_step } => unanswered(run, &id, *last_step).await,
    }
    assert_eq!(run.ear.count(|heard| heard.answers(&id)), 0, "a cancelled call is not answered");
    make(&run.client, &run.script.call).await;
}

async fn leave_after_progress(run: &Run, call: &Call) {
    let (tell, mut heard) = mpsc::unbounded_channel();
    let pending = run.client.call(call.tool, call.arguments()).on_progress(move |step| drop(tell.send(step)));
    tokio::select! {
        result = pending => panic!("{result:?}"),
        step = heard.recv() => assert!(step.is_some()),
    }
}

/// The legacy era, and stdio, have a notification for it; over HTTP of the modern era the end of the stream says it.
async fn said_so(run: &Run, id: &Value) {
    if run.cell.era == Era::Modern && run.cell.carrier == Carrier::StreamableHttp {
        return assert_eq!(run.ear.count(|heard| heard.cancels(id)), 0);
    }
    run.ear.until(|heard| heard.cancels(id).then_some(())).await;
}

/// A server that finishes its steps all the same must be seen to do so before its silence means anything. Over HTTP its
/// last words went with the stream that was left.
async fn unanswered(run: &Run, id: &Value, last_step: u32) {
    if run.cell.carrier == Carrier::StreamableHttp {
        return;
    }
    let last = |heard: &Heard| match heard {
        Heard::Received(frame) => {
            let params = &frame["params"];
            (params["progressToken"] == *id && params["progress"] == last_step).then_some(())
        }
        _ => None,
    };
    run.ear.until(last).await;
    run.client.ping().await.unwrap();
}
