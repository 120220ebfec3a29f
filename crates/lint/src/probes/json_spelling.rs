//! Sends one request in several spellings of the same JSON.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};

pub(crate) const JSON_SPELLING_STEP: Step = Step("json-spelling");

pub(crate) static JSON_SPELLING: Probe =
    Probe::new("json-spelling", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let method = stage.plain_method();
    for variant in ["another order of the members", "an escaped method", "white space between tokens"] {
        let id = stage.speaker.fresh_id();
        let message = request(stage.era(), &id, method, json!({}));
        let (name, params) =
            (&message["method"], message.get("params").cloned().unwrap_or_else(|| json!({})));
        let text = match variant {
            "an escaped method" => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, escaped(name))
            }
            "white space between tokens" => {
                format!(
                    "{{ \"jsonrpc\" : \"2.0\",\t\"id\" : {id}, \"method\" : {name}, \"params\" : {params} }}"
                )
            }
            _ => format!(r#"{{"params":{params},"method":{name},"id":{id},"jsonrpc":"2.0"}}"#),
        };
        stage.speaker.say(Say::raw(JSON_SPELLING_STEP, text, Expect::Answer(id)).variant(variant)).await;
    }
}

/// The method with its slash escaped, or its first letter if there is none.
fn escaped(method: &Value) -> String {
    let text = method.to_string();
    if text.contains('/') { text.replace('/', "\\/") } else { text.replacen('p', "\\u0070", 1) }
}
