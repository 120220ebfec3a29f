//! Collects all texts of a server: descriptions, titles, texts inside schemas, instructions.

use crate::{
    evidence::{Case, FrameRef, List},
    outcome::{Finding, Skip},
    pointer,
    probes::INTRODUCTION,
};
use serde_json::Value;

/// Maximum number of texts; other rules report larger servers.
const MOST: usize = 20_000;

/// One text and its position.
pub(super) struct Text<'a> {
    pub(super) words: &'a str,
    about: String,
    frame: FrameRef,
    pointer: String,
}

impl Text<'_> {
    pub(super) fn finding(&self, message: String) -> Finding {
        Finding::new(message).about(self.about.clone()).at(self.frame, self.pointer.clone())
    }
}

/// All texts of a server.
pub(super) fn of<'a>(case: &Case<'a>) -> Result<Vec<Text<'a>>, Skip> {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let mut texts = Vec::new();
    if let (Some(Value::String(text)), Some(frame)) =
        (case.introduction().and_then(|it| it.get("instructions")), introduced.answer_ref())
    {
        let pointer = "/result/instructions".to_owned();
        texts.push(Text { words: text, about: "instructions".to_owned(), frame, pointer });
    }
    for list in List::ALL {
        for item in case.list(list).unwrap_or_default() {
            let mut stack = vec![(item.value, item.pointer.clone())];
            while let Some((value, at)) = stack.pop() {
                match value {
                    Value::String(text) if texts.len() < MOST => {
                        texts.push(Text { words: text, about: item.label(), frame: item.frame, pointer: at });
                    }
                    Value::Object(members) => stack.extend(
                        members
                            .iter()
                            .rev()
                            .map(|(name, value)| (value, format!("{at}/{}", pointer::escape(name)))),
                    ),
                    Value::Array(items) => {
                        let items = items.iter().enumerate().rev();
                        stack.extend(items.map(|(index, value)| (value, format!("{at}/{index}"))));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(texts)
}
