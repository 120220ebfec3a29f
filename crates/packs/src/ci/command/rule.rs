//! `CommandRule`: a pattern of command lines that may be run.
//!
//! A rule is a line of words: a program's bare name and patterns for its arguments. A word matches
//! itself, except for these placeholders:
//! - `<word>`: one argument of letters, digits and `_ . : @ , + = -`, that does not begin with a
//!   dash
//! - `<path>`: one path that stays inside the open directories and does not begin with a dash
//! - `<word...>`, `<path...>`: any number of them; only as the last word
//!
//! A placeholder may also end a longer word: `--package=<word>`.

use std::{fmt, str::FromStr};

use super::super::roots::{Inside, Roots};

/// Programs that run other programs or arbitrary code: a rule with placeholders for their
/// arguments would allow everything.
const LAUNCHERS: [&str; 52] = [
    "ash",
    "awk",
    "bash",
    "bun",
    "busybox",
    "chroot",
    "csh",
    "dash",
    "deno",
    "doas",
    "env",
    "exec",
    "expect",
    "fish",
    "flock",
    "gawk",
    "ionice",
    "ksh",
    "ld.so",
    "lua",
    "nice",
    "node",
    "nohup",
    "nsenter",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pwsh",
    "python",
    "python3",
    "rbash",
    "ruby",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sh",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tclsh",
    "tcsh",
    "time",
    "timeout",
    "unshare",
    "watch",
    "xargs",
    "zsh",
];

/// File extensions that a Windows command interpreter would run.
const INTERPRETED: [&str; 6] = [".bat", ".cmd", ".com", ".exe", ".ps1", ".vbs"];

/// Rules for common read-only commands, and for the scripts that a project defines.
const COMMON: [&str; 26] = [
    "cargo --version",
    "cargo fmt --check",
    "cargo metadata --no-deps --format-version 1",
    "cargo tree",
    "cargo tree -p <word>",
    "cargo tree -i <word>",
    "dotnet --info",
    "dotnet --version",
    "dotnet list package",
    "git --version",
    "go list -m all",
    "go mod graph",
    "go mod verify",
    "go version",
    "make --version",
    "mvn --version",
    "node --version",
    "npm --version",
    "npm ls --all",
    "npm outdated",
    "npm run <word>",
    "pip list",
    "pnpm list",
    "pnpm run <word>",
    "python3 --version",
    "rustc --version",
];

/// A pattern of command lines that may be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRule {
    program: String,
    words: Vec<Word>,
    rest: Option<Hole>,
}

/// An invalid rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// The rule has no words.
    #[error("the rule is empty")]
    Empty,
    /// The program is a path or has a file extension.
    #[error("the program of a rule is a bare name, and {0:?} is not")]
    Program(String),
    /// The program runs other programs or arbitrary code, and the rule has placeholders.
    #[error("{0:?} runs whatever it is given, so a rule for it cannot leave arguments open")]
    Launcher(String),
    /// A word with angle brackets is not a known placeholder.
    #[error("{0:?} is not a placeholder; there are <word>, <path>, <word...> and <path...>")]
    Placeholder(String),
    /// A word follows a `<word...>` or `<path...>` placeholder.
    #[error("nothing can follow {0:?}")]
    NotLast(String),
}

/// The pattern of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Literal(String),
    /// A literal prefix, possibly empty, followed by a placeholder.
    Open(String, Hole),
}

/// The values that a placeholder matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    Word,
    Path,
}

impl CommandRule {
    /// Rules for common read-only commands, and for the scripts that a project defines.
    pub fn common() -> Vec<Self> {
        COMMON.iter().map(|rule| rule.parse().expect("the rules above can be read")).collect()
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// True if these words, run in `directory`, match the rule.
    pub(super) fn allows(&self, words: &[String], roots: &Roots, directory: &Inside) -> bool {
        let Some((program, arguments)) = words.split_first() else { return false };
        if *program != self.program || arguments.len() < self.words.len() {
            return false;
        }
        let (fixed, rest) = arguments.split_at(self.words.len());
        let fits = |hole: Hole, argument: &str| match hole {
            Hole::Word => is_word(argument),
            Hole::Path => {
                !argument.starts_with('-') && !argument.is_empty() && roots.encloses(directory, argument)
            }
        };
        let fixed_fit = fixed.iter().zip(&self.words).all(|(argument, word)| match word {
            Word::Literal(literal) => argument == literal,
            Word::Open(beginning, hole) => {
                argument.strip_prefix(beginning.as_str()).is_some_and(|value| fits(*hole, value))
            }
        });
        fixed_fit && rest.iter().all(|argument| self.rest.is_some_and(|hole| fits(hole, argument)))
    }
}

impl FromStr for CommandRule {
    type Err = BadRule;

    fn from_str(rule: &str) -> Result<Self, BadRule> {
        let mut given = rule.split_whitespace();
        let program = given.next().ok_or(BadRule::Empty)?.to_owned();
        if !is_bare_name(&program) {
            return Err(BadRule::Program(program));
        }
        let mut words = Vec::new();
        let mut rest = None;
        for word in given {
            if rest.is_some() {
                return Err(BadRule::NotLast(rule.to_owned()));
            }
            match placeholder(word)? {
                Placeholder::None => words.push(Word::Literal(word.to_owned())),
                Placeholder::One(beginning, hole) => words.push(Word::Open(beginning.to_owned(), hole)),
                Placeholder::Many(hole) => rest = Some(hole),
            }
        }
        let open = rest.is_some() || words.iter().any(|word| matches!(word, Word::Open(..)));
        if open && LAUNCHERS.contains(&program.as_str()) {
            return Err(BadRule::Launcher(program));
        }
        Ok(Self { program, words, rest })
    }
}

/// The rule as it was written.
impl fmt::Display for CommandRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |hole: Hole| match hole {
            Hole::Word => "word",
            Hole::Path => "path",
        };
        f.write_str(&self.program)?;
        for word in &self.words {
            match word {
                Word::Literal(literal) => write!(f, " {literal}")?,
                Word::Open(beginning, hole) => write!(f, " {beginning}<{}>", name(*hole))?,
            }
        }
        match self.rest {
            Some(hole) => write!(f, " <{}...>", name(hole)),
            None => Ok(()),
        }
    }
}

enum Placeholder<'a> {
    None,
    One(&'a str, Hole),
    Many(Hole),
}

fn placeholder(word: &str) -> Result<Placeholder<'_>, BadRule> {
    let bad = || BadRule::Placeholder(word.to_owned());
    let Some((beginning, name)) = word.split_once('<') else {
        return if word.contains('>') { Err(bad()) } else { Ok(Placeholder::None) };
    };
    match (beginning, name) {
        (beginning, "word>") => Ok(Placeholder::One(beginning, Hole::Word)),
        (beginning, "path>") => Ok(Placeholder::One(beginning, Hole::Path)),
        ("", "word...>") => Ok(Placeholder::Many(Hole::Word)),
        ("", "path...>") => Ok(Placeholder::Many(Hole::Path)),
        _ => Err(bad()),
    }
}

/// True for a name without a directory, which is searched only in `PATH`.
pub(super) fn is_bare_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+'));
    plain && !name.starts_with(['-', '.']) && !INTERPRETED.iter().any(|ending| lower.ends_with(ending))
}

fn is_word(argument: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.:@,+=-".contains(&b);
    !argument.is_empty() && !argument.starts_with('-') && argument != ".." && argument.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_reads_back_as_it_was_written() {
        for rule in COMMON.iter().chain(&["x --p=<word> <path...>", "sh ci.sh"]) {
            assert_eq!(rule.parse::<CommandRule>().map(|rule| rule.to_string()).as_deref(), Ok(*rule));
        }
    }

    #[test]
    fn rules_that_would_allow_everything_are_refused() {
        assert_eq!("sh -c <word>".parse::<CommandRule>(), Err(BadRule::Launcher("sh".into())));
        assert_eq!("env <word...>".parse::<CommandRule>(), Err(BadRule::Launcher("env".into())));
        assert_eq!("/bin/ls".parse::<CommandRule>(), Err(BadRule::Program("/bin/ls".into())));
        assert_eq!("npm.cmd ci".parse::<CommandRule>(), Err(BadRule::Program("npm.cmd".into())));
        assert_eq!("ls <any>".parse::<CommandRule>(), Err(BadRule::Placeholder("<any>".into())));
        assert!(matches!("ls <word...> x".parse::<CommandRule>(), Err(BadRule::NotLast(_))));
        assert_eq!(" ".parse::<CommandRule>(), Err(BadRule::Empty));
    }
}
