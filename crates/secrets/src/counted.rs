//! Counts with their nouns.

use std::fmt::Display;

/// A count with its noun in the right number: `1 warning`, `2 entries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_counts() {
        assert_eq!([0_u64, 1, 2].map(|count| counted(count, "tool")), ["0 tools", "1 tool", "2 tools"]);
        assert_eq!([1_usize, 3].map(|count| counted(count, "entry")), ["1 entry", "3 entries"]);
        assert_eq!(counted(2_u32, "key"), "2 keys");
    }
}
