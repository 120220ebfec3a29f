//! Lists of scopes.

/// Most scopes of a refusal that a login asks for, and their longest form.
const MAX_WANTED: usize = 64;
const MAX_SCOPE: usize = 256;

/// Scope that asks for a refresh token, in `OpenID` Connect.
pub(crate) const OFFLINE_ACCESS: &str = "offline_access";

/// The scopes of a text, separated by spaces, each once.
pub(crate) fn split(text: &str) -> Vec<String> {
    union(&[], text.split_ascii_whitespace())
}

/// Both lists, each scope once, in order.
pub(crate) fn union<'a>(first: &'a [String], second: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in first.iter().map(String::as_str).chain(second) {
        if !all.iter().any(|known| known == scope) {
            all.push(scope.to_owned());
        }
    }
    all
}

/// True if every scope of `wanted` is in `held`.
pub(crate) fn covers(held: &[String], wanted: &[String]) -> bool {
    wanted.iter().all(|scope| held.contains(scope))
}

/// The scopes that a server asked for, as far as a login may repeat them.
pub(crate) fn bounded(mut wanted: Vec<String>) -> Vec<String> {
    wanted.retain(|scope| scope.len() <= MAX_SCOPE);
    wanted.truncate(MAX_WANTED);
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_listed_once_in_their_order() {
        assert_eq!(split(" b a  b "), ["b", "a"]);
        assert_eq!(union(&split("a b"), ["c", "a"]), ["a", "b", "c"]);
        assert!(covers(&split("a b"), &split("b")) && !covers(&split("a"), &split("a b")));
    }
}
