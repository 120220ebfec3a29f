//! Gets a few listed prompts with generated arguments.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Settled, Step},
    rule::Mode,
};
use serde_json::{Map, Value, json};

pub(crate) const PROMPT_GET_STEP: Step = Step("prompt-get");
/// The same prompt without the member `arguments`, if no argument is required.
pub(crate) const PROMPT_BARE_STEP: Step = Step("prompt-get-bare");

pub(crate) static PROMPT_GETS: Probe = Probe::new("prompt-gets", Mode::Passive, |stage| Box::pin(run(stage)));

/// Maximum number of prompts fetched.
const SAMPLE: usize = 5;

async fn run(stage: &mut Stage) {
    let prompts = stage.listed(List::Prompts);
    stage.speaker.patience(stage.known.owed);
    for prompt in prompts.into_iter().take(SAMPLE) {
        let Some(name) = prompt["name"].as_str() else { continue };
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        let given: Map<String, Value> = arguments
            .filter_map(|argument| Some((argument["name"].as_str()?.to_owned(), json!("sample"))))
            .collect();
        let params = json!({"name": name, "arguments": given});
        let heard = stage.speaker.ask_variant((PROMPT_GET_STEP, name), "prompts/get", params).await;
        if matches!(heard.settled, Settled::Silent(_)) {
            break;
        }
        let mut needed = prompt["arguments"].as_array().into_iter().flatten();
        if heard.result().is_some() && needed.all(|argument| argument["required"] != true) {
            let params = json!({"name": name});
            stage.speaker.ask_variant((PROMPT_BARE_STEP, name), "prompts/get", params).await;
        }
    }
    stage.speaker.patience(stage.known.patience());
}
