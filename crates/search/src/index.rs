//! Index: the words of all documents, with the weight of each word in each document.

use crate::{
    document::Document,
    query::Query,
    ranking::{self, Hit},
    spelling::Spelling,
    vocabulary::vocabulary,
    weights::{FIELDS, Field, LENGTH, WEIGHT},
    words::{Piece, pieces, run_terms},
};
use foldhash::{HashMap, HashMapExt, HashSet};

/// Most words of one text that are indexed.
const MAX_WORDS: usize = 2000;

/// Most humps of a word that is also indexed as a whole.
const MAX_JOINED: usize = 3;

/// An index of documents; a document's number is its place among those given.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) terms: HashMap<Box<str>, u32>,
    pub(crate) postings: Vec<Vec<Posting>>,
    pub(crate) documents: Vec<Indexed>,
    pub(crate) servers: Vec<Server>,
    pub(crate) spelling: Spelling,
}

/// A term in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// Occurrences, weighted by field and by the field's length.
    pub(crate) weight: f32,
}

#[derive(Debug, Default)]
pub(crate) struct Indexed {
    pub(crate) server: u32,
    /// The different terms of the name, without those of the server's name.
    pub(crate) name: Vec<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Server {
    name: String,
    /// The words of its name, as stems.
    pub(crate) terms: Vec<u32>,
}

impl Index {
    pub fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut builder = Builder::default();
        for document in documents {
            builder.add(&document);
        }
        builder.finish()
    }

    /// The documents that fit `question` best, among those that `admits` accepts.
    pub fn search(&self, question: &str, most: usize, admits: impl Fn(usize) -> bool) -> Vec<Hit> {
        let query = Query::new(question, self);
        ranking::rank(self, &query, most, &admits)
    }

    pub fn len(&self) -> usize {
        self.documents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Number of documents in which a term occurs.
    pub(crate) fn frequency(&self, term: u32) -> usize {
        self.postings[term as usize].len()
    }

    pub(crate) fn term(&self, text: &str) -> Option<u32> {
        self.terms.get(text).copied()
    }
}

#[derive(Default)]
struct Builder {
    index: Index,
    /// For each document and field its terms, in order.
    texts: Vec<[Vec<u32>; FIELDS]>,
    words: HashSet<Box<str>>,
}

impl Builder {
    fn add(&mut self, document: &Document<'_>) {
        let mut fields: [Vec<u32>; FIELDS] = Default::default();
        let mut put = |this: &mut Self, field: Field, text: &str| {
            this.terms(text, &mut fields[field as usize]);
        };
        let (summary, rest) = first_sentence(document.description);
        put(self, Field::Name, document.name);
        put(self, Field::Title, document.title);
        put(self, Field::Summary, summary);
        put(self, Field::Description, rest);
        put(self, Field::Server, document.server);
        for tag in document.tags {
            put(self, Field::Tag, tag);
        }
        for argument in document.arguments {
            put(self, Field::ArgumentName, argument.name);
            put(self, Field::ArgumentText, argument.description);
            for value in &argument.values {
                put(self, Field::Value, value);
            }
        }
        let server = self.server(document.server, &fields[Field::Server as usize]);
        let mut name = self.name(document.name);
        let own = &self.index.servers[server as usize].terms;
        if name.iter().any(|term| !own.contains(term)) {
            name.retain(|term| !own.contains(term));
        }
        self.index.documents.push(Indexed { server, name });
        self.texts.push(fields);
    }

    /// The different terms of a name. A word with humps counts as its humps.
    fn name(&self, name: &str) -> Vec<u32> {
        let words = pieces(name).into_iter().flat_map(|piece| match piece {
            Piece::Word { whole, humps } if humps.is_empty() => vec![whole],
            Piece::Word { humps, .. } => humps,
            Piece::Run(run) => run_terms(&run).collect(),
        });
        let stems = words.map(|word| vocabulary().stemmers.english(&word));
        let mut terms: Vec<u32> = stems.filter_map(|stem| self.index.term(&stem)).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    fn server(&mut self, name: &str, terms: &[u32]) -> u32 {
        let place = self.index.servers.iter().position(|server| server.name == name).unwrap_or_else(|| {
            let mut terms = terms.to_vec();
            terms.sort_unstable();
            terms.dedup();
            self.index.servers.push(Server { name: name.to_owned(), terms });
            self.index.servers.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    fn terms(&mut self, text: &str, into: &mut Vec<u32>) {
        for piece in pieces(text) {
            if into.len() >= MAX_WORDS {
                return;
            }
            match piece {
                Piece::Word { whole, humps } => {
                    if humps.is_empty() || humps.len() <= MAX_JOINED {
                        self.word(whole, into);
                    }
                    for hump in humps {
                        self.word(hump, into);
                    }
                }
                Piece::Run(run) => {
                    for text in run_terms(&run) {
                        let term = self.term(text);
                        into.push(term);
                    }
                }
            }
        }
    }

    fn word(&mut self, word: String, into: &mut Vec<u32>) {
        if word.chars().count() < 3 && vocabulary().is_function_word(&word) {
            return;
        }
        let stem = vocabulary().stemmers.english(&word);
        self.words.insert(word.into());
        let term = self.term(stem);
        into.push(term);
    }

    fn term(&mut self, text: String) -> u32 {
        let next = u32::try_from(self.index.postings.len()).unwrap_or(u32::MAX);
        let term = *self.index.terms.entry(text.into()).or_insert(next);
        if term == next {
            self.index.postings.push(Vec::new());
        }
        term
    }

    fn finish(mut self) -> Index {
        let averages = averages(&self.texts);
        for (document, fields) in self.texts.iter().enumerate() {
            let document = u32::try_from(document).unwrap_or(u32::MAX);
            let mut weights: HashMap<u32, f32> = HashMap::new();
            for (field, terms) in fields.iter().enumerate() {
                let long = length(terms.len()) / averages[field].max(1.0);
                let one = WEIGHT[field] / (1.0 - LENGTH[field] + LENGTH[field] * long);
                for term in terms {
                    *weights.entry(*term).or_default() += one;
                }
            }
            let mut weights: Vec<(u32, f32)> = weights.into_iter().collect();
            weights.sort_unstable_by_key(|(term, _)| *term);
            for (term, weight) in weights {
                self.index.postings[term as usize].push(Posting { document, weight });
            }
        }
        let mut words: Vec<Box<str>> = self.words.into_iter().collect();
        words.sort_unstable();
        self.index.spelling = Spelling::new(words);
        self.index
    }
}

/// The average length of each field, over the documents that have it.
fn averages(texts: &[[Vec<u32>; FIELDS]]) -> [f32; FIELDS] {
    std::array::from_fn(|field| {
        let having = texts.iter().filter(|fields| !fields[field].is_empty()).count();
        let all: usize = texts.iter().map(|fields| fields[field].len()).sum();
        length(all) / length(having).max(1.0)
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of words stay far below 2^24")]
pub(crate) fn length(count: usize) -> f32 {
    count as f32
}

/// The first sentence of a description, and the rest.
fn first_sentence(text: &str) -> (&str, &str) {
    const LONGEST: usize = 300;
    let text = text.trim();
    let ends = text.char_indices().zip(text.chars().skip(1).chain([' ']));
    let end = ends
        .filter(|((_, c), next)| {
            matches!(c, '.' | '!' | '?') && next.is_whitespace() || matches!(c, '。' | '\n')
        })
        .map(|((at, c), _)| at + c.len_utf8())
        .next()
        .unwrap_or(text.len());
    let end = if end > LONGEST { text.floor_char_boundary(LONGEST) } else { end };
    text.split_at(end)
}
