//! Generated malformed frames, each followed by a plain request.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    sample::Rng,
    wire::{Expect, Say, request},
};
use bytes::Bytes;
use serde_json::{Value, json};

pub(crate) const FUZZ_FRAME_STEP: Step = Step("fuzz-frame");
pub(crate) const FUZZ_FRAME_AFTER: Step = Step("after-fuzz-frame");

pub(crate) static FUZZ_FRAMES: Probe =
    Probe::new("fuzz-frames", Mode::Fuzz, |stage| Box::pin(run(stage))).line(LineUse::Own);

/// Nesting depth, far beyond what a message needs.
const DEEP: usize = 2000;

/// Length of a long text that servers still must accept.
const LONG: usize = 100_000;

/// Number of failures after which the probe stops.
const ENOUGH: usize = 5;

async fn run(stage: &mut Stage) {
    let mut rng = Rng::new(stage.known.active.seed);
    let mut failures = 0;
    for number in 0..stage.known.active.cases {
        let frame = broken(stage, &mut rng);
        let say = Say::raw(FUZZ_FRAME_STEP, frame, Expect::NoWait).variant(number.to_string());
        stage.speaker.say(say).await;
        let alive = stage.sentinel(FUZZ_FRAME_AFTER).await.answer.is_some();
        if !alive {
            failures += 1;
            if failures == ENOUGH {
                return;
            }
            stage.renew(FUZZ_FRAMES.name).await;
        }
    }
}

/// A malformed frame without a newline.
fn broken(stage: &mut Stage, rng: &mut Rng) -> Bytes {
    let id = json!(50_000 + rng.below(1_000_000));
    let methods = ["tools/list", "ping", "tools/call", "x"];
    let method = methods[rng.below(methods.len())];
    let message = request(stage.era(), &id, method, json!({}));
    let text = message.to_string();
    let mut bytes = match rng.below(8) {
        0 => text.as_bytes()[..rng.below(text.len())].to_vec(),
        1 => flipped(text.into_bytes(), rng),
        2 => swapped(message, rng).to_string().into_bytes(),
        3 => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"x","params":{}{}}}"#,
            "[".repeat(DEEP),
            "]".repeat(DEEP)
        )
        .into_bytes(),
        4 => json!({"jsonrpc": "2.0", "id": id, "method": "y".repeat(LONG)}).to_string().into_bytes(),
        5 => format!(r#"{{"jsonrpc":"2.0","id":{id},"id":49999,"method":"ping"}}"#).into_bytes(),
        6 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"\ud800","params":{{"n":1e999999}}}}"#)
            .into_bytes(),
        _ => (0..=rng.below(64)).map(|_| u8::try_from(rng.below(256)).unwrap_or(0)).collect(),
    };
    for byte in &mut bytes {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    Bytes::from(bytes)
}

fn flipped(mut bytes: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len());
        bytes[at] ^= 1 << rng.below(8);
    }
    bytes
}

/// A message with one member of a wrong type.
fn swapped(mut message: Value, rng: &mut Rng) -> Value {
    let member = *rng.choose(&["jsonrpc", "id", "method", "params"]);
    let values = [Value::Null, json!(true), json!(-1.5), json!([]), json!({"a": {}}), json!("")];
    message[member] = rng.choose(&values).clone();
    message
}
