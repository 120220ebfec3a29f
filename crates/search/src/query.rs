//! Query: the words of a question, each with the index terms that it may stand for.

use crate::{
    index::Index,
    vocabulary::vocabulary,
    weights,
    words::{Piece, folded, pieces, run_terms},
};

/// Most words of a question that are looked at.
const MAX_WORDS: usize = 64;
/// Most characters of a question that are looked at.
const MAX_QUESTION: usize = 2000;

/// A question.
#[derive(Debug, Default)]
pub(crate) struct Query {
    pub(crate) words: Vec<Meaning>,
}

/// A word of the question: the terms that it may stand for, with weights. The best one counts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Meaning {
    pub(crate) terms: Vec<(u32, f32)>,
}

impl Query {
    pub(crate) fn new(question: &str, index: &Index) -> Self {
        let end = question.floor_char_boundary(MAX_QUESTION);
        let question = &question[..end];
        let mut pieces = pieces(question);
        pieces.truncate(MAX_WORDS);
        let foreign = is_foreign(question, &pieces);
        let reader = Reader { index, foreign };
        let mut words = reader.meanings(&pieces, false);
        if words.is_empty() {
            words = reader.meanings(&pieces, true);
        }
        Self { words }
    }
}

impl Meaning {
    fn put(&mut self, index: &Index, stem: &str, weight: f32) {
        let Some(term) = index.term(stem) else { return };
        match self.terms.iter_mut().find(|(known, _)| *known == term) {
            Some((_, old)) => *old = old.max(weight),
            None => self.terms.push((term, weight)),
        }
    }

    /// The stem and its synonyms.
    fn put_all(&mut self, index: &Index, stem: &str, weight: f32) {
        self.put(index, stem, weight);
        for (synonym, near) in vocabulary().synonyms(stem) {
            self.put(index, synonym, weight * near);
        }
    }
}

/// True if the question is in another language than English.
fn is_foreign(question: &str, pieces: &[Piece]) -> bool {
    let letters = question.chars().any(|c| c.is_alphabetic() && !c.is_ascii());
    let functional = |piece: &Piece| match piece {
        Piece::Word { whole, .. } => vocabulary().is_foreign_function_word(whole),
        Piece::Run(_) => true,
    };
    letters || pieces.iter().any(functional)
}

struct Reader<'a> {
    index: &'a Index,
    foreign: bool,
}

impl Reader<'_> {
    fn meanings(&self, pieces: &[Piece], all: bool) -> Vec<Meaning> {
        let mut found = Vec::new();
        for (place, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Word { whole, .. } if !all && self.is_function_word(whole) => {}
                Piece::Word { whole, humps } if humps.is_empty() || self.is_known(whole) => {
                    let next = match pieces.get(place + 1) {
                        Some(Piece::Word { whole: next, .. }) => Some(next.as_str()),
                        _ => None,
                    };
                    self.word(whole, next, &mut found);
                }
                Piece::Word { humps, .. } => {
                    for hump in humps {
                        self.word(hump, None, &mut found);
                    }
                }
                Piece::Run(run) => self.run(run, &mut found),
            }
        }
        found.retain(|meaning| !meaning.terms.is_empty());
        found
    }

    fn is_known(&self, word: &str) -> bool {
        self.index.term(&vocabulary().stemmers.english(word)).is_some()
    }

    fn is_function_word(&self, word: &str) -> bool {
        vocabulary().is_function_word(word) || self.foreign && vocabulary().is_foreign_function_word(word)
    }

    fn word(&self, word: &str, next: Option<&str>, found: &mut Vec<Meaning>) {
        let mut meaning = Meaning::default();
        let stem = vocabulary().stemmers.english(word);
        let known = self.index.term(&stem).is_some();
        if known {
            meaning.put(self.index, &stem, 1.0);
        }
        for (synonym, near) in vocabulary().synonyms(&stem) {
            meaning.put(self.index, synonym, *near);
        }
        if let Some(next) = next {
            let joined = folded(&format!("{word}{next}"));
            meaning.put(self.index, &vocabulary().stemmers.english(&joined), weights::JOINED);
        }
        if self.foreign || !known {
            for english in vocabulary().translations(word) {
                meaning.put_all(self.index, &english, weights::TRANSLATION);
            }
        }
        if !meaning.terms.is_empty() {
            found.push(meaning);
            return;
        }
        match self.parts(word) {
            Some(parts) => found.extend(parts),
            None => found.push(self.guessed(word)),
        }
    }

    /// The parts of a compound: of another language, or two known words.
    fn parts(&self, word: &str) -> Option<Vec<Meaning>> {
        if let Some(parts) = vocabulary().compound(word) {
            return Some(parts.iter().map(|stems| self.translated(stems)).collect());
        }
        if !word.is_ascii() || word.len() < 6 {
            return None;
        }
        (3..=word.len() - 3).rev().find_map(|at| {
            let (first, second) = word.split_at(at);
            let stems = [first, second].map(|part| vocabulary().stemmers.english(part));
            let known = stems.iter().all(|stem| self.index.term(stem).is_some());
            known.then(|| {
                let part = |stem: &String| {
                    let mut meaning = Meaning::default();
                    meaning.put(self.index, stem, weights::JOINED);
                    meaning
                };
                stems.iter().map(part).collect()
            })
        })
    }

    /// A word that is known nowhere: the beginning of one, or a misspelling.
    fn guessed(&self, word: &str) -> Meaning {
        let mut meaning = Meaning::default();
        for begun in self.index.spelling.begun(word) {
            meaning.put(self.index, &vocabulary().stemmers.english(begun), weights::PREFIX);
        }
        for (meant, weight) in self.index.spelling.meant(word) {
            meaning.put_all(self.index, &vocabulary().stemmers.english(meant), weight);
        }
        meaning
    }

    fn translated(&self, stems: &[String]) -> Meaning {
        let mut meaning = Meaning::default();
        for stem in stems {
            meaning.put_all(self.index, stem, weights::TRANSLATION);
        }
        meaning
    }

    fn run(&self, run: &[char], found: &mut Vec<Meaning>) {
        for stems in vocabulary().known_in_run(run) {
            found.push(self.translated(&stems));
        }
        for term in run_terms(run).filter(|text| run.len() == 1 || text.chars().count() > 1) {
            let mut meaning = Meaning::default();
            meaning.put(self.index, &term, 1.0);
            found.push(meaning);
        }
    }
}
