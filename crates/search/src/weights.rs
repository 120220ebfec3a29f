//! The constants of the ranking. They were set on half of the questions of a measurement and
//! judged on the other half; `docs/tool-search.md` has the figures.

/// The searchable parts of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Title,
    /// The first sentence of the description.
    Summary,
    Description,
    ArgumentName,
    ArgumentText,
    Value,
    Server,
    Tag,
}

pub(crate) const FIELDS: usize = 9;

/// The weight of one occurrence in a field, in the order of [`Field`].
pub(crate) const WEIGHT: [f32; FIELDS] = [4.0, 3.0, 3.0, 0.8, 1.3, 0.5, 1.0, 1.0, 2.0];
/// The degree to which a field's length lowers the count of one occurrence.
pub(crate) const LENGTH: [f32; FIELDS] = [0.4, 0.4, 0.5, 0.7, 0.6, 0.7, 0.5, 0.0, 0.3];
/// Saturation: how fast further occurrences stop to count.
pub(crate) const SATURATION: f32 = 3.0;

/// A synonym, a near word, a translation, an abbreviation and a part of a compound, compared with
/// the word itself.
pub(crate) const SYNONYM: f32 = 0.5;
pub(crate) const NEAR: f32 = 0.3;
pub(crate) const TRANSLATION: f32 = 0.9;
pub(crate) const PREFIX: f32 = 0.6;
pub(crate) const JOINED: f32 = 0.9;
/// A misspelling, times the similarity of the two words.
pub(crate) const MISSPELT: f32 = 0.9;

/// The share of a document's score that depends on how much of the question it covers.
pub(crate) const COVERAGE: f32 = 0.7;
/// The share that depends on how much of the name the question covers.
pub(crate) const NAME_COVERAGE: f32 = 0.6;
/// A server that the question names.
pub(crate) const SERVER: f32 = 1.2;
