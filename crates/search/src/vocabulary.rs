//! Vocabulary: synonyms, translations and word parts, loaded once from tables.

use crate::{stem::Stemmers, weights, words::folded};
use foldhash::{HashMap, HashMapExt, HashSet};
use std::sync::LazyLock;

const SYNONYMS: &str = include_str!("tables/synonyms.txt");
const LANGUAGES: &str = include_str!("tables/languages.txt");
const FUNCTION_WORDS: &str = include_str!("tables/function_words.txt");

/// The tables, with stemmed keys.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(crate) stemmers: Stemmers,
    /// English stem to the stems that mean the same, with a weight.
    synonyms: HashMap<String, Vec<(String, f32)>>,
    /// Stem of another language to English stems.
    translations: HashMap<String, Vec<String>>,
    /// Words of scripts without spaces, with the longest length among them.
    runs: HashMap<String, Vec<String>>,
    longest_run: usize,
    english_function: HashSet<String>,
    foreign_function: HashSet<String>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::load);

pub(crate) fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

impl Vocabulary {
    /// The synonyms of an English stem.
    pub(crate) fn synonyms(&self, stem: &str) -> &[(String, f32)] {
        self.synonyms.get(stem).map_or(&[], Vec::as_slice)
    }

    /// The English stems of a word of another language.
    pub(crate) fn translations(&self, word: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut add = |key: &str| {
            for english in self.translations.get(key).into_iter().flatten() {
                if !found.contains(english) {
                    found.push(english.clone());
                }
            }
        };
        add(word);
        for column in 0..self.stemmers.languages() {
            add(&self.stemmers.foreign(column, word));
        }
        found
    }

    /// The two parts of a compound of another language (`Tabellenzeile`), each translated.
    pub(crate) fn compound(&self, word: &str) -> Option<Vec<Vec<String>>> {
        const SHORTEST: usize = 4;
        if word.len() < 2 * SHORTEST || !word.is_ascii() {
            return None;
        }
        for at in (SHORTEST..=word.len() - SHORTEST).rev() {
            let (first, second) = word.split_at(at);
            // German joins parts with `s` or `n`.
            let plain = first.strip_suffix(['s', 'n']).filter(|plain| plain.len() >= SHORTEST);
            let first = [Some(first), plain].into_iter().flatten().map(|part| self.translations(part));
            if let Some(first) = first.into_iter().find(|found| !found.is_empty()) {
                let second = self.translations(second);
                if !second.is_empty() {
                    return Some(vec![first, second]);
                }
            }
        }
        None
    }

    /// The known words of a run of characters, longest first at each place, with their English
    /// stems.
    pub(crate) fn known_in_run(&self, run: &[char]) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < run.len() {
            let longest = self.longest_run.min(run.len() - at);
            let known = (1..=longest).rev().find_map(|length| {
                let text: String = run[at..at + length].iter().collect();
                self.runs.get(&text).map(|english| (length, english))
            });
            match known {
                Some((length, english)) => {
                    found.push(english.clone());
                    at += length;
                }
                None => at += 1,
            }
        }
        found
    }

    pub(crate) fn is_function_word(&self, word: &str) -> bool {
        self.english_function.contains(word)
    }

    /// True for a function word of another language that is none in English.
    pub(crate) fn is_foreign_function_word(&self, word: &str) -> bool {
        self.foreign_function.contains(word)
    }

    fn load() -> Self {
        let stemmers = Stemmers::new();
        let mut lines = table(FUNCTION_WORDS).map(|line| line.split_whitespace().map(folded));
        let english_function: HashSet<String> = lines.next().into_iter().flatten().collect();
        let foreign_function =
            lines.flatten().filter(|word| !english_function.contains(word)).collect::<HashSet<_>>();
        let mut made = Self {
            synonyms: HashMap::new(),
            translations: HashMap::new(),
            runs: HashMap::new(),
            longest_run: 0,
            english_function,
            foreign_function,
            stemmers,
        };
        made.load_synonyms();
        made.load_languages();
        made
    }

    fn load_synonyms(&mut self) {
        for line in table(SYNONYMS) {
            let (line, weight) = match line.strip_prefix('~') {
                Some(rest) => (rest, weights::NEAR),
                None => (line, weights::SYNONYM),
            };
            let stems: Vec<String> =
                line.split_whitespace().map(|word| self.stemmers.english(word)).collect();
            let Some((head, others)) = stems.split_first() else { continue };
            for other in others {
                self.join(head, other, weight);
                self.join(other, head, weight);
            }
        }
    }

    fn join(&mut self, one: &str, other: &str, weight: f32) {
        let known = self.synonyms.entry(one.to_owned()).or_default();
        match known.iter_mut().find(|(stem, _)| stem == other) {
            Some((_, old)) => *old = old.max(weight),
            None if one != other => known.push((other.to_owned(), weight)),
            None => {}
        }
    }

    fn load_languages(&mut self) {
        for line in table(LANGUAGES) {
            let mut cells = line.split('|');
            let english = cells.next().map(|word| self.stemmers.english(word.trim())).unwrap_or_default();
            for (column, cell) in cells.enumerate() {
                for word in cell.split_whitespace().filter(|word| *word != "-").map(folded) {
                    if column < self.stemmers.languages() {
                        let stem = self.stemmers.foreign(column, &word);
                        self.translate(word, &english);
                        self.translate(stem, &english);
                    } else {
                        self.longest_run = self.longest_run.max(word.chars().count());
                        let known = self.runs.entry(word).or_default();
                        if !known.contains(&english) {
                            known.push(english.clone());
                        }
                    }
                }
            }
        }
    }

    fn translate(&mut self, word: String, english: &str) {
        let known = self.translations.entry(word).or_default();
        if !known.iter().any(|stem| stem == english) {
            known.push(english.to_owned());
        }
    }
}

fn table(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
