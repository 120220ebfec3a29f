//! Ranking: scores documents for a query.

use crate::{
    index::{Index, length},
    query::{Meaning, Query},
    weights,
};
use foldhash::{HashMap, HashMapExt};

/// Documents that are looked at again after the first scoring.
const RECONSIDERED: usize = 200;

/// A found document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub document: usize,
    pub score: f32,
}

/// The documents that fit best. Equal scores are ordered by document number.
pub(crate) fn rank(index: &Index, query: &Query, most: usize, admits: &dyn Fn(usize) -> bool) -> Vec<Hit> {
    let mut scores = Scores::new(index);
    for word in &query.words {
        scores.add(index, word);
    }
    let mut hits = scores.hits(admits);
    best(&mut hits, RECONSIDERED.max(most));
    let meant = meant(query);
    for hit in &mut hits {
        hit.score *= 1.0 + weights::NAME_COVERAGE * name_coverage(index, &meant, hit.document);
    }
    best(&mut hits, most);
    hits
}

/// Scores of all documents.
struct Scores {
    relevance: Vec<f32>,
    covered: Vec<f32>,
    /// The importance of all words of the question.
    importance: f32,
    /// The best term of the word at hand.
    word: Vec<f32>,
}

impl Scores {
    fn new(index: &Index) -> Self {
        let zeros = || vec![0.0; index.documents.len()];
        Self { relevance: zeros(), covered: zeros(), importance: 0.0, word: zeros() }
    }

    fn add(&mut self, index: &Index, word: &Meaning) {
        let importance = importance(index, word);
        self.importance += importance;
        let mut touched: Vec<u32> = Vec::new();
        for (term, weight) in &word.terms {
            for posting in &index.postings[*term as usize] {
                let place = posting.document as usize;
                let score = weight * posting.weight * (weights::SATURATION + 1.0)
                    / (weights::SATURATION + posting.weight);
                if self.word[place] == 0.0 {
                    touched.push(posting.document);
                    self.covered[place] += importance;
                }
                self.word[place] = self.word[place].max(score);
            }
        }
        for document in touched {
            let place = document as usize;
            self.relevance[place] += importance * std::mem::take(&mut self.word[place]);
        }
        self.add_servers(index, word);
    }

    /// A word that names a server prefers all of its documents.
    fn add_servers(&mut self, index: &Index, word: &Meaning) {
        let servers: Vec<f32> = index
            .servers
            .iter()
            .map(|server| {
                let weight = |(term, weight): &(u32, f32)| {
                    if server.terms.contains(term) { *weight } else { 0.0 }
                };
                word.terms.iter().map(weight).fold(0.0, f32::max)
            })
            .collect();
        let named = servers.iter().filter(|weight| **weight > 0.0).count();
        if named == 0 {
            return;
        }
        let rarity = (length(index.servers.len()) / length(named)).ln();
        for (place, document) in index.documents.iter().enumerate() {
            let weight = servers[document.server as usize];
            if weight > 0.0 && self.relevance[place] > 0.0 {
                self.relevance[place] += weights::SERVER * rarity * weight;
            }
        }
    }

    fn hits(&self, admits: &dyn Fn(usize) -> bool) -> Vec<Hit> {
        let found = (0..self.relevance.len()).filter(|place| self.relevance[*place] > 0.0 && admits(*place));
        found
            .map(|document| {
                let coverage = self.covered[document] / self.importance;
                let score =
                    self.relevance[document] * (1.0 - weights::COVERAGE + weights::COVERAGE * coverage);
                Hit { document, score }
            })
            .collect()
    }
}

/// The weight of a word: words that many documents have count little. The terms that a word may
/// stand for are counted together, so that a rare synonym does not outweigh a usual one.
fn importance(index: &Index, word: &Meaning) -> f32 {
    let all = length(index.documents.len());
    let having: f32 = word.terms.iter().map(|(term, weight)| weight * length(index.frequency(*term))).sum();
    let having = having.min(all);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// The best weight of each term of the query.
fn meant(query: &Query) -> HashMap<u32, f32> {
    let mut best: HashMap<u32, f32> = HashMap::new();
    for (term, weight) in query.words.iter().flat_map(|word| &word.terms) {
        let old = best.entry(*term).or_default();
        *old = old.max(*weight);
    }
    best
}

/// The share of a name's words that the question has.
fn name_coverage(index: &Index, meant: &HashMap<u32, f32>, document: usize) -> f32 {
    let name = &index.documents[document].name;
    let covered: f32 = name.iter().filter_map(|term| meant.get(term)).sum();
    covered / length(name.len()).max(1.0)
}

fn best(hits: &mut Vec<Hit>, most: usize) {
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
    hits.truncate(most);
}
