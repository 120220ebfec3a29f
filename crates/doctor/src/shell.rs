//! Command lines that can be pasted into a shell.

use trunkline_client::CommandLine;

/// Quotes a word for the shell where needed.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

pub(super) fn command_line(line: &CommandLine) -> String {
    let words: Vec<String> =
        std::iter::once(&line.program).chain(&line.args).map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A `trunkline doctor` command line for the same server with other options.
pub(super) fn doctor(options: &[String], line: &CommandLine) -> String {
    let mut words = vec!["trunkline".to_owned(), "doctor".to_owned()];
    words.extend(options.iter().cloned());
    words.push("--".to_owned());
    format!("{} {}", words.join(" "), command_line(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_a_shell() {
        for (word, written) in
            [("a/b-c", "a/b-c"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("$X", "'$X'")]
        {
            assert_eq!(quoted(word), written);
        }
    }
}
