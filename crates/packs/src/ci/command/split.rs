//! Splits a command line into a program and its arguments. No shell is involved: shell syntax is
//! refused instead of passed on literally, because the caller meant it to be interpreted.

/// Maximum length of a command line in bytes.
const LONGEST: usize = 8 * 1024;

/// Characters with a special meaning in a shell when they are not quoted.
const SHELL: &str = ";|&<>$`(){}*?[]!#~";

/// A line that cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SplitError {
    #[error("the command is empty")]
    Empty,
    #[error("the command is longer than {LONGEST} bytes")]
    TooLong,
    #[error("a {0} quote is not closed")]
    Unclosed(char),
    #[error("the command ends with a backslash")]
    DanglingBackslash,
    #[error("the command contains a line break or another control character")]
    Control,
    #[error("`{0}` is for a shell, and no shell runs here")]
    Shell(char),
}

/// The words of `line`. In single quotes everything is literal; in double quotes a backslash
/// escapes a quote or a backslash; elsewhere it escapes any character.
pub(super) fn split(line: &str) -> Result<Vec<String>, SplitError> {
    if line.len() > LONGEST {
        return Err(SplitError::TooLong);
    }
    if line.trim_matches(' ').chars().any(|c| c.is_control() && c != '\t') {
        return Err(SplitError::Control);
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => quoted(character, &mut rest, word.get_or_insert_default())?,
            '\\' => {
                let next = rest.next().ok_or(SplitError::DanglingBackslash)?;
                word.get_or_insert_default().push(next);
            }
            // Inside a word these two have no special meaning in a shell.
            '#' | '~' if word.is_some() => word.get_or_insert_default().push(character),
            other if SHELL.contains(other) => return Err(SplitError::Shell(other)),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(SplitError::Empty) } else { Ok(words) }
}

/// Reads up to the closing `quote`.
fn quoted(quote: char, rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitError> {
    while let Some(character) = rest.next() {
        match character {
            end if end == quote => return Ok(()),
            '\\' if quote == '"' => match rest.next().ok_or(SplitError::Unclosed(quote))? {
                protected @ ('"' | '\\') => word.push(protected),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    Err(SplitError::Unclosed(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        split(line).expect("a plain line")
    }

    #[test]
    fn quotes_and_backslashes_keep_words_together() {
        assert_eq!(words("a  'b c' \"d \\\"e\" f\\ g"), ["a", "b c", "d \"e", "f g"]);
        assert_eq!(words("a '' \"\""), ["a", "", ""]);
        assert_eq!(words("pre'fix 'post"), ["prefix post"]);
        assert_eq!(words(r#"a "b\nc" x#y"#), ["a", "b\\nc", "x#y"]);
    }

    #[test]
    fn what_is_not_finished_is_refused() {
        assert_eq!(split("a 'b"), Err(SplitError::Unclosed('\'')));
        assert_eq!(split("a \"b\\"), Err(SplitError::Unclosed('"')));
        assert_eq!(split("a \\"), Err(SplitError::DanglingBackslash));
        assert_eq!(split("   "), Err(SplitError::Empty));
        assert_eq!(split(&"x".repeat(LONGEST + 1)), Err(SplitError::TooLong));
    }

    #[test]
    fn shell_syntax_is_refused_unless_quoted() {
        for (line, sign) in
            [("a;b", ';'), ("a | b", '|'), ("a && b", '&'), ("a $(b)", '$'), ("a `b`", '`'), ("a *.c", '*')]
        {
            assert_eq!(split(line), Err(SplitError::Shell(sign)), "{line}");
        }
        assert_eq!(words("echo '$(id); rm -rf *'"), ["echo", "$(id); rm -rf *"]);
        assert_eq!(split("a\nb"), Err(SplitError::Control));
        assert_eq!(split("a\0b"), Err(SplitError::Control));
    }
}
