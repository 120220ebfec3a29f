//! The permitted differences, each with its reason.

use super::difference::{Difference, Kind};

pub(crate) struct Rules(Vec<Rule>);

struct Rule {
    /// `any`, or one pair of eras.
    pair: String,
    /// The name of one exchange, or the beginning of some names and `*`.
    exchange: String,
    kind: Kind,
    /// Segments; `*` stands for one of them, `**` at the end for all that follow.
    path: Vec<String>,
}

impl Rules {
    /// Reads lines of `pair exchange kind path reason`.
    pub(crate) fn read(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(Rule::read).collect())
    }

    pub(crate) fn permit(&self, pair: &str, exchange: &str, difference: &Difference) -> bool {
        let fits = |wanted: &str, given: &str| {
            let begins = wanted.strip_suffix('*').is_some_and(|beginning| given.starts_with(beginning));
            wanted == given || wanted == "any" || begins
        };
        self.0.iter().any(|rule| {
            fits(&rule.pair, pair)
                && fits(&rule.exchange, exchange)
                && rule.kind == difference.kind
                && rule.covers(&difference.path)
        })
    }
}

impl Rule {
    fn read(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [pair, exchange, kind, path, reason @ ..] = words.as_slice() else {
            panic!("not a rule: {line}")
        };
        assert!(!reason.is_empty(), "a rule needs a reason: {line}");
        let kind = match *kind {
            "lost" => Kind::Lost,
            "added" => Kind::Added,
            "changed" => Kind::Changed,
            "reordered" => Kind::Reordered,
            other => panic!("no kind of difference: {other}"),
        };
        let path = path.split('/').map(str::to_owned).collect();
        Self { pair: (*pair).to_owned(), exchange: (*exchange).to_owned(), kind, path }
    }

    fn covers(&self, path: &str) -> bool {
        let segments: Vec<&str> = path.split('/').collect();
        let open = self.path.last().is_some_and(|last| last == "**");
        let wanted = if open { &self.path[..self.path.len() - 1] } else { &self.path[..] };
        let long_enough = if open { segments.len() >= wanted.len() } else { segments.len() == wanted.len() };
        long_enough && wanted.iter().zip(segments).all(|(wanted, segment)| wanted == "*" || wanted == segment)
    }
}
