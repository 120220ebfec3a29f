//! "Did you mean": suggests the known name that is most similar to an unknown one.

/// Minimum similarity of two names, from 0 to 1.
const ALIKE: f64 = 0.8;
/// Longer names are not compared: the time is proportional to the product of both lengths.
const MAX_NAME: usize = 256;

/// Returns the most similar of `known`, if it is similar enough.
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
    // One typo in a short name lowers the similarity too much, so a single edit always counts as
    // alike.
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
