//! Stemming: the common form of a word's inflections.

use rust_stemmers::{Algorithm, Stemmer};

/// The stemmers of the languages whose words are known.
pub(crate) struct Stemmers {
    english: Stemmer,
    foreign: Vec<Stemmer>,
}

/// The languages with stems, in the order of the columns of `tables/languages.txt`.
const LANGUAGES: [Algorithm; 6] = [
    Algorithm::German,
    Algorithm::French,
    Algorithm::Spanish,
    Algorithm::Portuguese,
    Algorithm::Italian,
    Algorithm::Russian,
];

impl Stemmers {
    pub(crate) fn new() -> Self {
        let english = Stemmer::create(Algorithm::English);
        Self { english, foreign: LANGUAGES.into_iter().map(Stemmer::create).collect() }
    }

    /// The English stem. Words with digits are names and have none.
    pub(crate) fn english(&self, word: &str) -> String {
        if word.bytes().all(|b| b.is_ascii_lowercase()) {
            self.english.stem(word).into_owned()
        } else {
            word.to_owned()
        }
    }

    /// The stem in the language of this column; the word itself in a language without stems.
    pub(crate) fn foreign(&self, column: usize, word: &str) -> String {
        self.foreign.get(column).map_or_else(|| word.to_owned(), |stemmer| stemmer.stem(word).into_owned())
    }

    pub(crate) fn languages(&self) -> usize {
        self.foreign.len()
    }
}

impl std::fmt::Debug for Stemmers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stemmers").finish_non_exhaustive()
    }
}
