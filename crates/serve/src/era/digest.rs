//! A digest that identifies a call. It is the same for every round of a call with questions.

use ring::digest::{Context, SHA256};
use trunkline_protocol::Object;

/// Members that differ from round to round.
const PER_ROUND: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// Hashes the caller, the method and the parameters that stay the same in every round.
pub(super) fn digest(caller: &str, method: &str, params: &Object) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    let mut add = |part: &[u8]| {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    };
    add(caller.as_bytes());
    add(method.as_bytes());
    for (name, value) in params.iter().filter(|(name, _)| !PER_ROUND.contains(name)) {
        add(name.as_bytes());
        add(value.as_bytes());
    }
    context.finish().as_ref().to_vec()
}
