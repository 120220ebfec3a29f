//! Spelling: the known words that an unknown word may be meant as, by shared trigrams and edit
//! distance.

use crate::weights;
use foldhash::{HashMap, HashMapExt};

/// Words shorter than this are not corrected: too many others are near.
const SHORTEST: usize = 4;
/// Most words that one unknown word may stand for.
const MAX_MEANT: usize = 3;
/// Most words that are compared letter by letter.
const MAX_COMPARED: usize = 64;

type Trigram = [char; 3];

/// The words of the indexed texts as they are written.
#[derive(Debug, Default)]
pub(crate) struct Spelling {
    words: Vec<Box<str>>,
    by_trigram: HashMap<Trigram, Vec<u32>>,
}

impl Spelling {
    pub(crate) fn new(words: Vec<Box<str>>) -> Self {
        let mut by_trigram: HashMap<Trigram, Vec<u32>> = HashMap::new();
        for (place, word) in words.iter().enumerate() {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            for trigram in trigrams(word) {
                let places = by_trigram.entry(trigram).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        Self { words, by_trigram }
    }

    /// The words that `word` may be meant as, with weights, the likeliest first.
    pub(crate) fn meant(&self, word: &str) -> Vec<(&str, f32)> {
        let length = word.chars().count();
        if length < SHORTEST {
            return Vec::new();
        }
        let allowed = if length < 7 { 1 } else { 2 };
        let mut found: Vec<(&str, f32)> = self
            .candidates(word)
            .into_iter()
            .filter(|other| other.chars().count().abs_diff(length) <= allowed)
            .filter_map(|other| {
                let distance = strsim::osa_distance(word, other);
                (distance <= allowed).then(|| (other, weight(distance, length, starts_alike(word, other))))
            })
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        found.truncate(MAX_MEANT);
        found
    }

    /// The words that `word` is the beginning of, shortest first.
    pub(crate) fn begun(&self, word: &str) -> Vec<&str> {
        let Some(first) = trigrams(word).next().filter(|_| word.chars().count() >= 3) else {
            return Vec::new();
        };
        let places = self.by_trigram.get(&first).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<&str> = places
            .iter()
            .map(|place| self.words[*place as usize].as_ref())
            .filter(|other| other.starts_with(word))
            .collect();
        found.sort_by_key(|other| (other.len(), *other));
        found.truncate(MAX_MEANT);
        found
    }

    fn candidates(&self, word: &str) -> Vec<&str> {
        let mut shared: HashMap<u32, usize> = HashMap::new();
        for trigram in trigrams(word) {
            for place in self.by_trigram.get(&trigram).into_iter().flatten() {
                *shared.entry(*place).or_default() += 1;
            }
        }
        let mut counted: Vec<(usize, u32)> =
            shared.into_iter().map(|(place, count)| (count, place)).collect();
        counted.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        counted.truncate(MAX_COMPARED);
        counted.into_iter().map(|(_, place)| self.words[place as usize].as_ref()).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of words are small")]
fn weight(distance: usize, length: usize, starts_alike: bool) -> f32 {
    let similarity = 1.0 - distance as f32 / length as f32;
    weights::MISSPELT * similarity * if starts_alike { 1.0 } else { 0.8 }
}

fn starts_alike(one: &str, other: &str) -> bool {
    one.chars().next() == other.chars().next()
}

/// The trigrams of a word with marks before and after it. Two letters exchanged leave few common
/// trigrams, so the skipped pairs count as well.
fn trigrams(word: &str) -> impl Iterator<Item = Trigram> {
    const MARK: char = '\u{1}';
    let mut letters = vec![MARK];
    letters.extend(word.chars());
    letters.push(MARK);
    let plain: Vec<Trigram> = letters.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    let sorted = letters.windows(3).map(|w| {
        let mut all = [w[0], w[1], w[2]];
        all.sort_unstable();
        // Descending, which few plain trigrams are.
        [all[2], all[1], all[0]]
    });
    let sorted: Vec<Trigram> = sorted.collect();
    plain.into_iter().chain(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(words: &[&str]) -> Spelling {
        Spelling::new(words.iter().map(|word| (*word).into()).collect())
    }

    #[test]
    fn exchanged_missing_and_doubled_letters_are_read() {
        let known = spelling(&["search", "screenshot", "transcript", "release", "map", "starch"]);
        for (typed, meant) in [
            ("serach", "search"),
            ("screnshot", "screenshot"),
            ("trasncript", "transcript"),
            ("relase", "release"),
        ] {
            assert_eq!(known.meant(typed).first().map(|(word, _)| *word), Some(meant), "{typed}");
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        let known = spelling(&["list", "issue", "database"]);
        assert!(known.meant("lost").iter().all(|(word, _)| *word == "list"));
        assert!(known.meant("abc").is_empty());
        assert!(known.meant("pancake").is_empty());
    }
}
