//! Names and texts taken apart.

use std::collections::BTreeSet;

/// Verbs of tools that change something.
pub(in crate::rules) const MUTATING: [&str; 26] = [
    "add",
    "append",
    "apply",
    "archive",
    "clear",
    "commit",
    "create",
    "delete",
    "destroy",
    "drop",
    "edit",
    "erase",
    "insert",
    "kill",
    "move",
    "overwrite",
    "patch",
    "purge",
    "put",
    "remove",
    "rename",
    "replace",
    "reset",
    "update",
    "upload",
    "write",
];

/// Verbs of tools that take something away for good.
pub(in crate::rules) const DESTRUCTIVE: [&str; 8] =
    ["delete", "destroy", "drop", "erase", "kill", "overwrite", "purge", "remove"];

/// The words of a name such as `get_user`, `getUser`, `get-user`, in lower case.
pub(in crate::rules) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut fresh = true;
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_alphanumeric() {
            let hump = letter.is_uppercase() && before.is_lowercase();
            if fresh || hump || words.is_empty() {
                words.push(String::new());
            }
            fresh = false;
            let last = words.last_mut().expect("a word was pushed before the first letter");
            last.extend(letter.to_lowercase());
        } else {
            fresh = true;
        }
        before = letter;
    }
    words
}

/// How alike two texts are by their trigrams, from 0 to 1.
pub(in crate::rules) fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (trigrams(a), trigrams(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let common = a.intersection(&b).count();
    #[expect(clippy::cast_precision_loss, reason = "texts have far fewer than 2^52 trigrams")]
    let share = (2 * common) as f64 / (a.len() + b.len()) as f64;
    share
}

/// At most this many names, and how many more there are.
pub(in crate::rules) fn some(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn trigrams(text: &str) -> BTreeSet<[char; 3]> {
    let letters: Vec<char> =
        text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
    letters.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words_whatever_their_style() {
        for name in ["get_user_id", "getUserId", "get-user.id", "GetUserId"] {
            assert_eq!(words(name), ["get", "user", "id"], "{name}");
        }
        assert!(words("__").is_empty());
    }

    #[test]
    fn equal_texts_are_alike_and_different_ones_are_not() {
        assert!(similarity("Reads a file from disk", "Reads a file from disk.") > 0.95);
        assert!(similarity("Reads a file from disk", "Sends mail to people") < 0.3);
    }
}
