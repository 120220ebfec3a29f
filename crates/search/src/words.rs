//! Splits text into words: at punctuation, at the humps of `camelCase`, between scripts. Letters
//! lose case and accents. Text in scripts without spaces gives single characters and pairs.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Most characters of one word; the rest is cut, so that a long line of letters stays cheap.
const MAX_WORD: usize = 40;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A word of letters and digits, and its humps if it has several: `GitHub` is `github`, and
    /// `git` and `hub`.
    Word { whole: String, humps: Vec<String> },
    /// A run of characters of a script without spaces.
    Run(Vec<char>),
}

/// The pieces of a text, in order.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut word = Word::default();
    let mut in_run = false;
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)) {
        if is_spaceless(c) {
            word.finish(&mut found);
            match found.last_mut() {
                Some(Piece::Run(run)) if in_run => run.push(c),
                _ => found.push(Piece::Run(vec![c])),
            }
        } else if c.is_alphanumeric() {
            word.push(c);
        } else {
            word.finish(&mut found);
        }
        in_run = is_spaceless(c);
    }
    word.finish(&mut found);
    found
}

/// The terms of a run: each character and each pair of neighbours.
pub(crate) fn run_terms(run: &[char]) -> impl Iterator<Item = String> + '_ {
    let single = run.iter().map(char::to_string);
    let pairs = run.windows(2).map(|pair| pair.iter().collect());
    single.chain(pairs)
}

/// Letters without case and accents, as the words of [`pieces`] have them.
pub(crate) fn folded(text: &str) -> String {
    text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

#[derive(Default)]
struct Word {
    humps: Vec<String>,
    hump: String,
    count: usize,
    last: Option<char>,
    /// The number of upper-case letters at the end, of which the last may begin the next hump.
    capitals: usize,
}

impl Word {
    fn push(&mut self, c: char) {
        let begins = self.last.is_some_and(|last| !last.is_uppercase()) && c.is_uppercase();
        if begins {
            self.humps.push(std::mem::take(&mut self.hump));
        } else if c.is_lowercase() && self.capitals > 1 {
            self.split_capital();
        }
        self.capitals = if c.is_uppercase() { self.capitals + 1 } else { 0 };
        self.last = Some(c);
        if self.count < MAX_WORD {
            self.hump.extend(c.to_lowercase());
            self.count += 1;
        }
    }

    /// `HTTPServer` is `http` and `server`: the last capital belongs to the next hump. A plural
    /// such as `IDs` is one hump.
    fn split_capital(&mut self) {
        if self.hump.chars().count() > 2
            && let Some(last) = self.hump.pop()
        {
            self.humps.push(std::mem::replace(&mut self.hump, last.to_string()));
        }
    }

    fn finish(&mut self, found: &mut Vec<Piece>) {
        let Self { mut humps, hump, .. } = std::mem::take(self);
        if !hump.is_empty() {
            humps.push(hump);
        }
        if !humps.is_empty() {
            let whole = humps.concat();
            let humps = if humps.len() > 1 { humps } else { Vec::new() };
            found.push(Piece::Word { whole, humps });
        }
    }
}

/// True for scripts that put no spaces between words.
fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'        // Thai, Lao
        | '\u{1000}'..='\u{109f}'      // Burmese
        | '\u{1100}'..='\u{11ff}'      // Hangul, decomposed
        | '\u{3040}'..='\u{30ff}'      // Kana
        | '\u{3130}'..='\u{318f}'      // Hangul letters
        | '\u{3400}'..='\u{9fff}'      // Han
        | '\u{ac00}'..='\u{d7af}'      // Hangul
        | '\u{f900}'..='\u{faff}'      // Han, compatibility
        | '\u{20000}'..='\u{3134f}') // Han, extensions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let texts_of = |piece| match piece {
            Piece::Word { whole, humps } if humps.is_empty() => vec![whole],
            Piece::Word { humps, .. } => humps,
            Piece::Run(run) => vec![run.into_iter().collect()],
        };
        pieces(text).into_iter().flat_map(texts_of).collect()
    }

    #[test]
    fn names_are_split_at_humps_and_punctuation() {
        assert_eq!(words("getHTTPServerStatus"), ["get", "http", "server", "status"]);
        assert_eq!(words("list_merge-requests.v2"), ["list", "merge", "requests", "v2"]);
        assert_eq!(words("TwilioApiV2010--DeleteKey"), ["twilio", "api", "v2010", "delete", "key"]);
        assert_eq!(words("issueIDs"), ["issue", "ids"]);
    }

    #[test]
    fn accents_and_case_are_dropped() {
        assert_eq!(words("Créer une Étiquette"), ["creer", "une", "etiquette"]);
        assert_eq!(folded("Löschen"), "loschen");
    }

    #[test]
    fn runs_without_spaces_are_kept_together() {
        assert_eq!(words("查询city天气"), ["查询", "city", "天气"]);
        let Piece::Run(run) = &pieces("天气图")[0] else { panic!("a run") };
        assert_eq!(run_terms(run).collect::<Vec<_>>(), ["天", "气", "图", "天气", "气图"]);
    }
}
