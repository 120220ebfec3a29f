//! The values behind references such as `{env:TOKEN}`, which must never be shown.

use parking_lot::Mutex;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, sync::Arc};
use trunkline_secrets::{Caution, Mask};

/// Collects the values that references were replaced by, and masks them, along with everything
/// that looks like a secret.
#[derive(Clone)]
pub(crate) struct Concealed(Arc<Mutex<State>>);

struct State {
    values: BTreeSet<String>,
    mask: Mask,
}

/// Shorter values stay visible in frames.
const SHORTEST_MASKED: usize = 6;
const MASK: Mask = Mask::new("***", Caution::Readable);

impl Concealed {
    /// Masks this value from now on. A very short one stays visible: hiding it would make texts
    /// unreadable.
    pub(crate) fn add(&self, value: &str) {
        let mut state = self.0.lock();
        if state.values.insert(value.to_owned()) {
            state.mask = MASK.knowing(state.values.iter().map(String::as_str));
        }
    }

    pub(crate) fn values(&self) -> Vec<String> {
        self.0.lock().values.iter().cloned().collect()
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        let mask = self.0.lock().mask.clone();
        mask.hide(text).into_owned()
    }

    /// Masks only the known values, in a text that is otherwise shown as it is.
    pub(crate) fn hide_known(&self, text: &str) -> String {
        let state = self.0.lock();
        let known = state.values.iter().filter(|value| value.len() >= SHORTEST_MASKED);
        known.fold(text.to_owned(), |text, value| text.replace(value.as_str(), "***"))
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

impl Default for Concealed {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { values: BTreeSet::new(), mask: MASK })))
    }
}

impl fmt::Debug for Concealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Concealed({} values)", self.0.lock().values.len())
    }
}
