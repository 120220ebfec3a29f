//! "Did you mean": the known name that a wrong one resembles.

/// How alike two names must be, from 0 to 1.
const ALIKE: f64 = 0.8;
/// Longer names are not compared: that takes time in proportion to the product of their lengths.
const MAX_NAME: usize = 256;

/// The nearest of `known`, when it is near enough.
pub(crate) fn suggest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let simple = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
    let wrong = simple(wrong);
    if wrong.len() > MAX_NAME {
        return None;
    }
    let known = known.into_iter().filter(|name| name.len() <= MAX_NAME);
    let scored = known.map(|name| (likeness(&wrong, &simple(name)), name));
    scored.filter(|(score, _)| *score >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

fn likeness(wrong: &str, name: &str) -> f64 {
    // One slip in a short name weighs more than its share of the letters.
    let slips = strsim::damerau_levenshtein(wrong, name);
    if slips <= 1 && name.chars().count() > 2 { 1.0 } else { strsim::jaro_winkler(wrong, name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_not() {
        let known = ["read_file", "write_file", "list_directory", "sum"];
        for (wrong, want) in [
            ("readfile", Some("read_file")),
            ("read-file", Some("read_file")),
            ("lst_directory", Some("list_directory")),
            ("smu", Some("sum")),
            ("delete", None),
            ("x", None),
        ] {
            assert_eq!(suggest(wrong, known), want, "{wrong}");
        }
    }
}
