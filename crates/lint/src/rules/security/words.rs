//! Collects every text of a server that reaches a model.

use crate::{
    evidence::{Case, FrameRef, List},
    outcome::{Finding, Skip},
    pointer,
};
use serde_json::Value;

/// One string and its position.
#[derive(Debug)]
pub(super) struct Text<'a> {
    pub(super) content: &'a str,
    /// Its owner: `tool echo`, `the instructions`, …
    pub(super) about: String,
    pub(super) frame: FrameRef,
    pub(super) pointer: String,
}

impl Text<'_> {
    pub(super) fn finding(&self, message: impl Into<String>) -> Finding {
        Finding::new(message).about(self.about.clone()).at(self.frame, self.pointer.clone())
    }
}

/// All texts of the introduction and of the lists.
pub(super) fn all<'a>(case: &Case<'a>) -> Result<Vec<Text<'a>>, Skip> {
    let introduced = case.introduced();
    let introduced = introduced.and_then(|asked| Some((asked.result()?, asked.answer_ref()?)));
    let (introduction, frame) = introduced.ok_or_else(|| Skip::not_verified("there is no introduction"))?;
    let mut texts = Vec::new();
    for (member, about) in
        [("instructions", "the instructions"), ("serverInfo", "the server's description of itself")]
    {
        if let Some(value) = introduction.get(member) {
            collect(value, (about, frame), format!("/result/{member}"), &mut texts);
        }
    }
    for list in List::ALL {
        if case.capability(list.capability()).is_none() {
            continue;
        }
        match case.list(list) {
            Ok(items) => {
                for item in items {
                    collect(item.value, (&item.label(), item.frame), item.pointer.clone(), &mut texts);
                }
            }
            // Templates are optional, and other rules report a failing list; some texts are enough
            // here.
            Err(why) if texts.is_empty() && list != List::Templates => return Err(why),
            Err(_) => {}
        }
    }
    Ok(texts)
}

fn collect<'a>(value: &'a Value, at: (&str, FrameRef), pointer: String, texts: &mut Vec<Text<'a>>) {
    match value {
        Value::String(text) => {
            texts.push(Text { content: text, about: at.0.to_owned(), frame: at.1, pointer });
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, at, format!("{pointer}/{index}"), texts);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                let name = pointer::escape(name);
                collect(item, at, format!("{pointer}/{name}"), texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
