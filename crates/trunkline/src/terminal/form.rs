//! Prompts for the fields of a form.

use super::{
    answers::Answers,
    ask::{Asker, CANCEL, DECLINE, Said},
    field,
};
use std::io::{BufRead, Write};
use trunkline_protocol::{
    Object, Raw,
    message::{ElicitResult, Field, FieldKind},
};

/// Prompts for every field that `answers` does not contain.
pub(super) fn fill<R: BufRead, W: Write>(
    asker: &mut Asker<R, W>,
    fields: &[Field],
    answers: &Answers,
) -> ElicitResult {
    asker.show(&format!("(Enter takes the default; {DECLINE} refuses, {CANCEL} or Ctrl-D leaves it open)"));
    let mut content = Object::new();
    for each in fields {
        let answer = match given(asker, each, answers) {
            Some(value) => Ok(Some(value)),
            None => ask(asker, each),
        };
        match answer {
            Ok(Some(value)) => content.set(each.name.clone(), value),
            Ok(None) => {}
            Err(result) => return result,
        }
    }
    match asker.ask("Send these answers? [Y/n]") {
        Said::Line(text) if matches!(text.to_lowercase().as_str(), "" | "y" | "yes") => {
            ElicitResult::accept(Some(content.to_raw()))
        }
        Said::Line(_) | Said::Decline => ElicitResult::decline(),
        Said::Cancel => ElicitResult::cancel(),
    }
}

/// The answer given with `--answer`, if it is valid.
fn given<R: BufRead, W: Write>(asker: &mut Asker<R, W>, each: &Field, answers: &Answers) -> Option<Raw> {
    match field::read(each, answers.get(&each.name)?) {
        Ok(value) => Some(value),
        Err(reason) => {
            asker.show(&format!("--answer {}: {reason}", each.name));
            None
        }
    }
}

/// Prompts until the answer is valid. `Ok(None)` omits an optional field.
fn ask<R: BufRead, W: Write>(asker: &mut Asker<R, W>, each: &Field) -> Result<Option<Raw>, ElicitResult> {
    if let FieldKind::Unsupported { reason } = &each.kind {
        asker.show(&format!("{}: cannot be asked here ({reason})", each.name));
        return if each.required { Err(ElicitResult::decline()) } else { Ok(None) };
    }
    let prompt = introduce(asker, each);
    loop {
        let text = match asker.ask(&prompt) {
            Said::Line(text) => text,
            Said::Decline => return Err(ElicitResult::decline()),
            Said::Cancel => return Err(ElicitResult::cancel()),
        };
        match (text.is_empty(), &each.default) {
            (true, Some(default)) => return Ok(Some(default.clone())),
            (true, None) if !each.required => return Ok(None),
            (true, None) if !takes_nothing(each) => asker.show("  an answer is needed here"),
            _ => match field::read(each, &text) {
                Ok(value) => return Ok(Some(value)),
                Err(reason) => asker.show(&format!("  {reason}")),
            },
        }
    }
}

/// True if empty input is a valid answer: a required list may be empty.
fn takes_nothing(each: &Field) -> bool {
    matches!(each.kind, FieldKind::Many { .. })
}

/// Shows the field's description, and returns its prompt.
fn introduce<R: BufRead, W: Write>(asker: &mut Asker<R, W>, each: &Field) -> String {
    let name = each.title.as_deref().unwrap_or(&each.name);
    if let Some(description) = &each.description {
        asker.show(&format!("{name}: {description}"));
    }
    if let FieldKind::One { choices } | FieldKind::Many { choices, .. } = &each.kind {
        for (at, choice) in choices.iter().enumerate() {
            let title = choice.title.as_deref().filter(|title| *title != choice.value);
            let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
            asker.show(&format!("  {}. {}{title}", at + 1, choice.value));
        }
    }
    let need = if each.required { "" } else { ", optional" };
    let default = each.default.as_ref().map(|default| format!(" [{default}]")).unwrap_or_default();
    format!("{name} ({}{need}){default}:", field::hint(&each.kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::message::{Action, read_form};

    const FORM: &str = r#"{"type":"object","required":["name","age"],"properties":{
        "name":{"type":"string","title":"Your name","description":"As in your passport"},
        "age":{"type":"integer","minimum":18},"mail":{"type":"string","format":"email"},
        "color":{"type":"string","enum":["red","green"],"default":"green"}}}"#;

    fn filled(typed: &str, given: &[&str]) -> (ElicitResult, String) {
        let fields = read_form(&Raw::parse(FORM).unwrap()).unwrap();
        let answers =
            Answers::parse(&given.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap();
        let mut shown = Vec::new();
        let result = fill(&mut Asker::new(typed.as_bytes(), &mut shown), &fields, &answers);
        (result, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn every_field_is_asked_until_it_fits() {
        let (result, shown) = filled("\nAda\n17\n36\n\n\ny\n", &[]);
        assert_eq!(result.content.unwrap().as_str(), r#"{"name":"Ada","age":36,"color":"green"}"#);
        insta::assert_snapshot!(shown.replace(": ", ":\n"), @r#"
        (Enter takes the default; :decline refuses, :cancel or Ctrl-D leaves it open)
        Your name:
        As in your passport
        Your name (text):
          an answer is needed here
        Your name (text):
        age (whole number from 18):
          this is wanted:
        number from 18
        age (whole number from 18):
        mail (email address, optional):
          1. red
          2. green
        color (one of these, by number or name, optional) ["green"]:
        Send these answers? [Y/n] 
        "#);
    }

    #[test]
    fn one_can_decline_and_cancel_anywhere() {
        assert_eq!(filled("Ada\n:decline\n", &[]).0.action, Action::Decline);
        assert_eq!(filled("Ada\n:cancel\n", &[]).0.action, Action::Cancel);
        assert_eq!(filled("Ada\n", &[]).0.action, Action::Cancel);
        assert_eq!(filled("Ada\n20\n\n\nn\n", &[]).0.action, Action::Decline);
    }

    #[test]
    fn given_answers_are_not_asked_for_unless_they_do_not_fit() {
        let (result, shown) = filled("40\n\n\n", &["name=Ada", "age=x", "color=red"]);
        assert_eq!(result.content.unwrap().as_str(), r#"{"name":"Ada","age":40,"color":"red"}"#);
        assert!(shown.contains("--answer age: a whole number is wanted"), "{shown}");
    }
}
