//! Sampling, with the user typing the model's answer.

use super::ask::{Asker, Said};
use crate::render::content::Renderer;
use std::io::{BufRead, Write};
use trunkline_protocol::{
    Fault, FaultKind, Outcome, Raw,
    message::{ContentBlock, CreateMessageParams, CreateMessageResult, Role, TextContent},
};

/// Model name reported to the server.
const MODEL: &str = "human";

pub(super) fn sample<R: BufRead, W: Write>(asker: &mut Asker<R, W>, params: &CreateMessageParams) -> Outcome {
    asker.show("The server asks a language model; you answer in its place.");
    if let Some(system) = &params.system_prompt {
        asker.show(&format!("system: {system}"));
    }
    for message in &params.messages {
        let mut renderer = Renderer::default();
        message.content.blocks().iter().for_each(|block| renderer.block(block));
        asker.show(&format!("{}: {}", message.role, anstream::adapter::strip_str(renderer.text.trim_end())));
    }
    match asker.ask(&format!("answer (at most {} tokens; empty refuses):", params.max_tokens)) {
        Said::Line(text) if !text.is_empty() => {
            let content: ContentBlock = TextContent::new(text).into();
            let mut result = CreateMessageResult::new(Role::Assistant, content, MODEL);
            result.stop_reason = Some("endTurn".to_owned());
            Raw::encode(&result).map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))
        }
        Said::Line(_) | Said::Decline | Said::Cancel => {
            Err(Fault::new(FaultKind::Declined, "the user refused to answer"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_shown_and_the_answer_sent() {
        let params = r#"{"messages":[{"role":"user","content":{"type":"text","text":"2+2?\u001b[2J"}}],"maxTokens":9,"systemPrompt":"be short"}"#;
        let params: CreateMessageParams = serde_json::from_str(params).unwrap();
        let mut shown = Vec::new();
        let answer = sample(&mut Asker::new("4\n".as_bytes(), &mut shown), &params).unwrap();
        assert_eq!(
            answer.as_str(),
            r#"{"role":"assistant","content":{"type":"text","text":"4"},"model":"human","stopReason":"endTurn"}"#
        );
        assert!(String::from_utf8(shown).unwrap().contains("user: 2+2?␛[2J\n"));
        let refused = sample(&mut Asker::new("\n".as_bytes(), Vec::new()), &params);
        assert_eq!(refused.unwrap_err().kind(), FaultKind::Declined);
    }
}
