//! Answers given with `--answer`, so that scripts can fill in forms.

use super::field;
use crate::arguments::pair;
use trunkline_protocol::{
    Object,
    message::{ElicitResult, Field},
};

/// Field names and their given values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers(Vec<(String, String)>);

impl Answers {
    /// Parses `FIELD=VALUE` words; the error is the first malformed word.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let read = |word: &String| {
            pair(word).map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| word.clone())
        };
        words.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the answer for a field; the last one given wins.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Fills in a form without a terminal. On error, which lists the reasons, the form must be
    /// declined.
    pub(super) fn fill(&self, fields: &[Field]) -> Result<ElicitResult, Vec<String>> {
        let mut content = Object::new();
        let mut troubles = Vec::new();
        for each in fields {
            let name = &each.name;
            match (self.get(name).map(|text| field::read(each, text)), &each.default) {
                (Some(Ok(value)), _) => content.set(name.clone(), value),
                (Some(Err(reason)), _) => troubles.push(format!("--answer {name}: {reason}")),
                (None, Some(default)) => content.set(name.clone(), default.clone()),
                (None, None) if each.required => {
                    troubles.push(format!("the form needs `{name}`; give it with --answer {name}=…"));
                }
                (None, None) => {}
            }
        }
        if troubles.is_empty() { Ok(ElicitResult::accept(Some(content.to_raw()))) } else { Err(troubles) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::{Raw, message::read_form};

    fn filled(words: &[&str]) -> Result<String, Vec<String>> {
        let form = r#"{"properties":{"n":{"type":"integer"},"c":{"type":"string","default":"x"},"o":{"type":"string"}},"required":["n"]}"#;
        let fields = read_form(&Raw::parse(form).unwrap()).unwrap();
        let answers =
            Answers::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap();
        answers.fill(&fields).map(|result| result.content.unwrap().to_string())
    }

    #[test]
    fn given_values_and_defaults_fill_the_form() {
        assert_eq!(filled(&["n=1", "n=2"]).unwrap(), r#"{"n":2,"c":"x"}"#);
    }

    #[test]
    fn what_is_missing_or_wrong_is_told() {
        assert_eq!(filled(&[]).unwrap_err(), ["the form needs `n`; give it with --answer n=…"]);
        assert_eq!(filled(&["n=a"]).unwrap_err(), ["--answer n: a whole number is wanted"]);
        assert_eq!(Answers::parse(&["x".to_owned()]).unwrap_err(), "x");
    }
}
