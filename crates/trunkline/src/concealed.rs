//! The values behind references such as `{env:TOKEN}`, which must never be shown.

use parking_lot::Mutex;
use serde_json::Value;
use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    sync::Arc,
};
use trunkline_secrets::{Caution, Mask};

/// Collects the values that references were replaced by, and masks them, along with everything
/// that looks like a secret.
#[derive(Clone)]
pub(crate) struct Concealed(Arc<Mutex<State>>);

struct State {
    values: BTreeSet<String>,
    /// Tokens that servers issued, the oldest first.
    tokens: VecDeque<String>,
    mask: Mask,
}

/// Tokens that are masked. Every caller may have some, and they are renewed for as long as the
/// process runs, so the oldest ones are forgotten.
const MAX_TOKENS: usize = 1024;

/// Shorter values are not masked in frames.
const SHORTEST_MASKED: usize = 6;
const MASK: Mask = Mask::new("***", Caution::Readable);

impl Concealed {
    /// Masks this value from now on. A very short one stays visible: hiding it would make texts
    /// unreadable.
    pub(crate) fn add(&self, value: &str) {
        let mut state = self.0.lock();
        if state.values.insert(value.to_owned()) {
            state.renew_mask();
        }
    }

    /// Masks a token until [`MAX_TOKENS`] newer ones were added.
    pub(crate) fn add_token(&self, token: &str) {
        let mut state = self.0.lock();
        if state.tokens.iter().any(|known| known == token) {
            return;
        }
        if state.tokens.len() == MAX_TOKENS {
            state.tokens.pop_front();
        }
        state.tokens.push_back(token.to_owned());
        state.renew_mask();
    }

    pub(crate) fn values(&self) -> Vec<String> {
        self.0.lock().all().map(str::to_owned).collect()
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        let mask = self.0.lock().mask.clone();
        mask.hide(text).into_owned()
    }

    /// Masks only the known values, in a text that is otherwise shown as it is.
    pub(crate) fn hide_known(&self, text: &str) -> String {
        let state = self.0.lock();
        let known = state.all().filter(|value| value.len() >= SHORTEST_MASKED);
        known.fold(text.to_owned(), |text, value| text.replace(value, "***"))
    }

    /// Masks every string of a JSON value.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.hide_in(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl State {
    fn all(&self) -> impl Iterator<Item = &str> {
        self.values.iter().chain(&self.tokens).map(String::as_str)
    }

    fn renew_mask(&mut self) {
        self.mask = MASK.knowing(self.all());
    }
}

impl Default for Concealed {
    fn default() -> Self {
        let state = State { values: BTreeSet::new(), tokens: VecDeque::new(), mask: MASK };
        Self(Arc::new(Mutex::new(state)))
    }
}

impl fmt::Debug for Concealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Concealed({} values)", self.0.lock().all().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_tokens_make_room_for_new_ones_and_settings_stay() {
        let concealed = Concealed::default();
        concealed.add("configured-value");
        (0..=MAX_TOKENS).for_each(|number| concealed.add_token(&format!("token-{number:05}")));
        assert_eq!(concealed.values().len(), MAX_TOKENS + 1);
        assert_eq!(concealed.hide("configured-value token-00001"), "*** ***");
        assert_eq!(concealed.hide("token-00000"), "token-00000");
    }
}
