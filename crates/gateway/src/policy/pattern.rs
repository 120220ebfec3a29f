//! Patterns: globs, of which the usual forms are compared without an automaton.

use super::filter::{BadGlob, glob};
use globset::GlobMatcher;

/// A glob over a text, compiled.
#[derive(Debug, Clone)]
enum Pattern {
    Exact(Box<str>),
    Prefix(Box<str>),
    Suffix(Box<str>),
    Glob(Box<GlobMatcher>),
}

/// Several patterns, of which one must match. No pattern at all matches everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns(Box<[Pattern]>);

impl Pattern {
    fn new(text: &str) -> Result<Self, BadGlob> {
        let compiled = glob(text)?;
        let is_plain = |part: &str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        if is_plain(text) {
            return Ok(Self::Exact(text.into()));
        }
        if let Some(start) = text.strip_suffix('*').filter(|start| is_plain(start)) {
            return Ok(Self::Prefix(start.into()));
        }
        if let Some(end) = text.strip_prefix('*').filter(|end| is_plain(end)) {
            return Ok(Self::Suffix(end.into()));
        }
        Ok(Self::Glob(Box::new(compiled)))
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(whole) => **whole == *text,
            Self::Prefix(start) => text.starts_with(&**start),
            Self::Suffix(end) => text.ends_with(&**end),
            Self::Glob(glob) => glob.is_match(text),
        }
    }
}

impl Patterns {
    pub(crate) fn new(globs: &[String]) -> Result<Self, BadGlob> {
        let patterns: Result<Vec<Pattern>, BadGlob> = globs.iter().map(|text| Pattern::new(text)).collect();
        Ok(Self(patterns?.into()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a pattern matches, or there is none.
    pub(crate) fn admit(&self, text: &str) -> bool {
        self.is_empty() || self.match_any(text)
    }

    /// True if a pattern could match a text with this beginning.
    pub(crate) fn may_match(&self, start: &str) -> bool {
        self.0.iter().any(|pattern| match pattern {
            Pattern::Exact(whole) => whole.starts_with(start),
            Pattern::Prefix(begin) => begin.starts_with(start) || start.starts_with(&**begin),
            Pattern::Suffix(_) | Pattern::Glob(_) => true,
        })
    }

    /// True if a pattern matches.
    pub(crate) fn match_any(&self, text: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The short forms match exactly what the glob matches.
        #[test]
        fn a_pattern_matches_like_its_glob(text in "[ab*?]{0,6}", name in "[ab\n]{0,8}") {
            let compiled = glob(&text).unwrap();
            prop_assert_eq!(Pattern::new(&text).unwrap().matches(&name), compiled.is_match(&name));
        }
    }

    #[test]
    fn no_pattern_matches_everything() {
        assert!(Patterns::default().admit("a") && !Patterns::default().match_any("a"));
        let some = Patterns::new(&["a*".to_owned(), "*z".to_owned(), "x[12]".to_owned()]).unwrap();
        assert!(["ab", "yz", "x1"].iter().all(|name| some.admit(name)));
        assert!(["b", "x3", "A"].iter().all(|name| !some.admit(name)));
    }
}
