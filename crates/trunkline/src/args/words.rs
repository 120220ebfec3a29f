//! Splits positional arguments into the target and the arguments of the command.

use super::program::{is_on_path, is_path};
use crate::{
    environment::Environment,
    expand::expand,
    failure::Failure,
    wire::named::{self, Lookup, Named},
};
use trunkline_client::Target;

/// The positional arguments of a command line: those before `--` and those after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetWords<'a> {
    pub(crate) words: &'a [String],
    pub(crate) command: &'a [String],
}

/// The target, and the remaining arguments for the command.
#[derive(Debug)]
pub(crate) struct Split<'a> {
    pub(crate) target: Target,
    pub(crate) rest: Vec<&'a str>,
    /// Connection settings from the configuration, if the target is a configured server's name.
    pub(crate) configured: Option<Named>,
}

const NO_NAMES: &str = "there is neither a program nor a configured server of that name; give an address or a command, or add the server to `trunkline.json`";

impl<'a> TargetWords<'a> {
    /// With a program after `--`, all words belong to the command; otherwise the first is the
    /// target.
    pub(crate) fn split(self, environment: &Environment) -> Result<Split<'a>, Failure> {
        if !self.command.is_empty() {
            let target = self.started(environment)?;
            return Ok(Split { target, rest: texts(self.words), configured: None });
        }
        let Some((target, rest)) = self.words.split_first() else { return Err(no_target()) };
        let (target, configured) = address(target, environment)?;
        Ok(Split { target, rest: texts(rest), configured })
    }

    /// Like `split`, but the target may be at any position: `is_own` recognizes the command's
    /// words.
    pub(crate) fn split_known(
        self,
        is_own: impl Fn(&str) -> bool,
        environment: &Environment,
    ) -> Result<Split<'a>, Failure> {
        let (rest, others): (Vec<&str>, Vec<&str>) =
            texts(self.words).into_iter().partition(|word| is_own(word));
        let (target, configured) = match (others.as_slice(), self.command) {
            ([], []) => return Err(no_target()),
            ([], _) => (self.started(environment)?, None),
            ([only], []) => address(only, environment)?,
            ([other, ..], [_, ..]) | ([_, other, ..], _) => {
                return Err(Failure::usage(format!("unexpected argument `{other}`")));
            }
        };
        Ok(Split { target, rest, configured })
    }

    fn started(self, environment: &Environment) -> Result<Target, Failure> {
        let expanded: Result<Vec<_>, _> = self
            .command
            .iter()
            .map(|word| expand(word, &format!("`{word}` in the command"), environment))
            .collect();
        let words = expanded.map_err(|missing| Failure::usage(missing.to_string()))?;
        let hidden =
            words.iter().cloned().zip(self.command.iter().cloned()).filter(|(word, written)| word != written);
        let shown = hidden.collect();
        let mut target = Target::command(words).map_err(|bad| Failure::usage(bad.to_string()))?;
        if let Target::Command(command) = &mut target {
            command.shown = shown;
        }
        Ok(target)
    }
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn address(word: &str, environment: &Environment) -> Result<(Target, Option<Named>), Failure> {
    let text = expand(word, &format!("the target `{word}`"), environment)
        .map_err(|m| Failure::usage(m.to_string()))?;
    let bad = |bad: trunkline_client::BadTarget| Failure::usage(bad.to_string());
    if text.contains("://") {
        return Target::url(&text).map(|target| (target, None)).map_err(bad);
    }
    if is_path(&text) {
        return Target::command([text]).map(|target| (target, None)).map_err(bad);
    }
    match named::look_up(&text, environment) {
        Lookup::Server(named) => Ok((named.target.clone(), Some(*named))),
        Lookup::Unusable(failure) => Err(failure),
        Lookup::Unknown(_) if is_on_path(&text, environment) => {
            Target::command([text]).map(|target| (target, None)).map_err(bad)
        }
        Lookup::Unknown(failure) => Err(failure.unwrap_or_else(|| not_an_address(word))),
    }
}

fn not_an_address(word: &str) -> Failure {
    let failure = Failure::usage(format!("`{word}` is not an address")).hint(NO_NAMES);
    let host = word.split(['/', ':']).next().unwrap_or_default();
    if host == "localhost" || host.contains('.') {
        return failure.hint(format!("if it is a host, write `http://{word}` or `https://{word}`"));
    }
    failure
}

fn no_target() -> Failure {
    Failure::usage("there is no target")
        .hint("give the address of a server, its name in the configuration, or the command that starts it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn split(before: &str, after: &str) -> Result<(String, Vec<String>), String> {
        let (words, command) = (words(before), words(after));
        let environment = Environment::of([("PORT", "81"), ("DIR", "/srv")]);
        let split = TargetWords { words: &words, command: &command }.split(&environment);
        split
            .map(|s| (resolved(s.target), s.rest.iter().map(|w| (*w).to_owned()).collect()))
            .map_err(|failure| anstream::adapter::strip_str(&failure.to_text()).to_string())
    }

    /// The target with the values of its references, which are not shown otherwise.
    fn resolved(mut target: Target) -> String {
        if let Target::Command(command) = &mut target {
            command.shown.clear();
        }
        target.to_string()
    }

    #[test]
    fn the_first_word_is_the_target_unless_a_command_follows() {
        let own = words("echo a=1");
        assert_eq!(split("http://h:${PORT}/mcp echo a=1", ""), Ok(("http://h:81/mcp".into(), own.clone())));
        assert_eq!(split("echo a=1", "fs-server {env:DIR}"), Ok(("fs-server /srv".into(), own)));
    }

    #[test]
    fn a_bare_name_is_told_where_names_come_from() {
        let text = split("files echo", "").unwrap_err();
        assert!(text.contains("`files` is not an address") && text.contains("trunkline.json"), "{text}");
        assert!(split("localhost:3000/mcp", "").unwrap_err().contains("http://localhost:3000/mcp"));
    }

    #[test]
    fn missing_targets_and_variables_are_named() {
        assert!(split("", "").unwrap_err().contains("there is no target"));
        assert!(split("http://h/${NOPE}", "").unwrap_err().contains("`NOPE`"));
        assert!(split("", "srv ${NOPE}").unwrap_err().contains("`${NOPE}` in the command"));
    }

    #[test]
    fn where_own_words_are_known_the_target_may_stand_anywhere() {
        let environment = Environment::default();
        let own = |word: &str| word == "tools";
        for typed in ["tools http://h/", "http://h/ tools"] {
            let words = words(typed);
            let split = TargetWords { words: &words, command: &[] }.split_known(own, &environment).unwrap();
            assert_eq!((split.target.to_string(), split.rest), ("http://h/".to_owned(), vec!["tools"]));
        }
        let words = words("http://h/ tool");
        let failure = TargetWords { words: &words, command: &[] }.split_known(own, &environment).unwrap_err();
        assert!(failure.to_text().contains("unexpected argument `tool`"));
    }
}
