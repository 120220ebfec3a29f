//! Boundary and invalid values for a type.

use super::Rng;
use serde_json::{Value, json};

/// Length of a long text that a server still has to accept.
const LONG: usize = 20_000;

/// Nesting depth of a deep value.
const DEEP: usize = 100;

/// Replaces one member of the arguments by an odd value. Returns its name and the new arguments.
pub(crate) fn odd(schema: &Value, arguments: &Value, rng: &mut Rng) -> (String, Value) {
    let names: Vec<&String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .collect();
    let mut changed = arguments.clone();
    let Some(members) = changed.as_object_mut() else { return ("arguments".to_owned(), value(rng)) };
    let name = if names.is_empty() { "trunkline_lint".to_owned() } else { (*rng.choose(&names)).clone() };
    members.insert(name.clone(), value(rng));
    (name, changed)
}

fn value(rng: &mut Rng) -> Value {
    match rng.below(16) {
        0 => json!(""),
        1 => json!("x".repeat(LONG)),
        2 => json!("\u{0}\u{1}\u{7f}"),
        3 => json!("ä€𝄞\u{202e}\u{200b}"),
        4 => json!("'; --\"</script>{{7*7}}%s%n"),
        5 => json!("../../../../trunkline-lint-no-such-file"),
        6 => json!(-1),
        7 => json!(i64::MAX),
        8 => json!(1e308),
        9 => json!(0.1),
        10 => Value::Null,
        11 => json!(true),
        12 => json!([]),
        13 => json!({}),
        14 => (0..DEEP).fold(json!("deep"), |inner, _| json!([inner])),
        _ => json!({"__proto__": {"polluted": true}, "constructor": 1}),
    }
}
