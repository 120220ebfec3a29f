//! Replaces `{env:NAME}` and `${NAME}` in command-line arguments by environment variables.

use crate::environment::Environment;
use trunkline_config::is_variable_name;

/// A referenced variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} refers to the environment variable `{variable}`, which is not set")]
pub(crate) struct Missing {
    /// The argument that refers to it, such as `--header Authorization`.
    pub(crate) place: String,
    pub(crate) variable: String,
}

/// Replaces every reference in `text`. Malformed references stay unchanged, and values are not
/// expanded again. The values are masked in messages from now on.
pub(crate) fn expand(text: &str, place: &str, environment: &Environment) -> Result<String, Missing> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, after)) = next_reference(rest) {
        let missing = || Missing { place: place.to_owned(), variable: name.to_owned() };
        out.push_str(before);
        let value = environment.get(name).ok_or_else(missing)?;
        environment.concealed.add(value);
        out.push_str(value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Splits at the next reference: the text before it, the variable's name, and the text after it.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    text.char_indices().find_map(|(at, _)| {
        let tail = &text[at..];
        let inner = tail.strip_prefix("{env:").or_else(|| tail.strip_prefix("${"))?;
        let (name, after) = inner.split_once('}')?;
        is_variable_name(name).then_some((&text[..at], name, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, Missing> {
        let environment = Environment::of([("A", "1"), ("_B2", "${A}"), ("EMPTY", "")]);
        expand(text, "--header X", &environment)
    }

    #[test]
    fn both_spellings_are_replaced_anywhere() {
        assert_eq!(expanded("x{env:A}y${A}{env:EMPTY}z").unwrap(), "x1y1z");
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        assert_eq!(expanded("${_B2}").unwrap(), "${A}");
    }

    #[test]
    fn what_only_resembles_a_reference_stays() {
        for text in ["$A", "${}", "{env:}", "${A", "{A}", "${A:-x}", "${9}", "é{env"] {
            assert_eq!(expanded(text).unwrap(), text);
        }
    }

    #[test]
    fn a_missing_variable_is_named_with_its_place() {
        let error = expanded("Bearer {env:TOKEN}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "--header X refers to the environment variable `TOKEN`, which is not set"
        );
    }
}
