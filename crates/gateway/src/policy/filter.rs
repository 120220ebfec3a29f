//! Filter: selects names by globs. Filters only ever reduce what is visible.

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// Globs over names: `*` any text, `?` one character, `[…]`, `{a,b}`. A name passes if it is
/// allowed and not denied.
///
/// Names are compared exactly: no case folding, no trimming, no Unicode normalisation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterRules {
    /// `None` allows everything; an empty list allows nothing.
    pub allow: Option<Vec<String>>,
    pub deny: Vec<String>,
}

/// An invalid glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGlob {
    /// A leading `!` looks like an exception but would match a literal `!`, so it is refused.
    #[error("`{0}` begins with `!`, but globs cannot be negated; list denied names in `deny`")]
    Negated(String),
    #[error("`{glob}` is not a glob: {reason}")]
    Invalid { glob: String, reason: String },
}

/// Compiled [`FilterRules`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// `None` if everything is allowed.
    allow: Option<GlobSet>,
    /// The globs of `allow` as written.
    allow_texts: Vec<String>,
    /// `None` if nothing is denied.
    deny: Option<GlobSet>,
}

impl Filter {
    pub(crate) fn new(rules: &FilterRules) -> Result<Self, BadGlob> {
        // `*` is not compiled: matching it costs time and is always true.
        let all = rules.allow.iter().flatten().any(|glob| glob == "*");
        let allow = rules.allow.as_deref().map(compile).transpose()?;
        let deny = compile(&rules.deny)?;
        let allow_texts = rules.allow.clone().unwrap_or_default();
        Ok(Self { allow: allow.filter(|_| !all), allow_texts, deny: (!deny.is_empty()).then_some(deny) })
    }

    pub(crate) fn admits(&self, name: &str) -> bool {
        self.allows(name) && !self.denies(name)
    }

    /// True if some name that starts with `start` could be allowed: of `start` and the literal
    /// prefix of some glob, one is a prefix of the other.
    pub(crate) fn may_allow(&self, start: &str) -> bool {
        let literal =
            |glob: &String| glob.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default().to_owned();
        let fits = |glob: &String| {
            let literal = literal(glob);
            literal.starts_with(start) || start.starts_with(&literal) && literal.len() < glob.len()
        };
        self.allow.is_none() || self.allow_texts.iter().any(fits)
    }

    pub(crate) fn allows(&self, name: &str) -> bool {
        self.allow.as_ref().is_none_or(|globs| globs.is_match(name))
    }

    /// True if there are any deny rules.
    pub(crate) fn denies_any(&self) -> bool {
        self.deny.is_some()
    }

    pub(crate) fn denies(&self, name: &str) -> bool {
        self.deny.as_ref().is_some_and(|globs| globs.is_match(name))
    }
}

fn compile(globs: &[String]) -> Result<GlobSet, BadGlob> {
    let mut set = GlobSetBuilder::new();
    for text in globs {
        set.add(glob(text)?.glob().clone());
    }
    set.build().map_err(|e| BadGlob::Invalid { glob: globs.join(" "), reason: e.kind().to_string() })
}

/// Compiles one glob.
pub(crate) fn glob(text: &str) -> Result<GlobMatcher, BadGlob> {
    if text.starts_with('!') {
        return Err(BadGlob::Negated(text.to_owned()));
    }
    let invalid =
        |e: globset::Error| BadGlob::Invalid { glob: text.to_owned(), reason: e.kind().to_string() };
    let compiled = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
    compiled.map(|glob| glob.compile_matcher()).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(allow: Option<&[&str]>, deny: &[&str]) -> Filter {
        let owned = |globs: &[&str]| globs.iter().map(|g| (*g).to_owned()).collect();
        Filter::new(&FilterRules { allow: allow.map(owned), deny: owned(deny) }).unwrap()
    }

    #[test]
    fn nothing_said_allows_everything_and_an_empty_list_nothing() {
        assert!(filter(None, &[]).admits("a"));
        assert!(!filter(Some(&[]), &[]).admits("a"));
        assert!(!filter(Some(&["*"]), &["a*"]).admits("ab"));
    }

    #[test]
    fn globs_cross_slashes_and_lines() {
        let filter = filter(Some(&["fs_*", "x_file:///srv/*"]), &["fs_file:///etc/*"]);
        assert!(filter.admits("fs_file:///home/a/b") && filter.admits("x_file:///srv/a\nb"));
        assert!(!filter.admits("fs_file:///etc/a/b") && !filter.admits("x_file:///etc"));
    }

    #[test]
    fn an_exception_is_refused_and_not_read_as_a_name() {
        let rules = FilterRules { allow: None, deny: vec!["!fs_read".to_owned()] };
        assert_eq!(Filter::new(&rules).unwrap_err(), BadGlob::Negated("!fs_read".to_owned()));
        let rules = FilterRules { allow: Some(vec!["a[".to_owned()]), deny: Vec::new() };
        assert!(matches!(Filter::new(&rules).unwrap_err(), BadGlob::Invalid { .. }));
    }
}
