//! Lists of scopes.

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
