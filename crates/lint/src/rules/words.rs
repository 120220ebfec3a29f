//! Splits names into words, and shortens lists of names.

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

/// The first few names, and the number of the others.
pub(in crate::rules) fn some(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
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
}
