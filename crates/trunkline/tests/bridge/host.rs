//! A host that answers everything, and records the questions.

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::json;
use std::{
    future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::Notify;
use trunkline_client::{Abilities, Ability, Asked, Host};
use trunkline_protocol::{Notification, Outcome, Raw, method};

#[derive(Default)]
pub(crate) struct Answering {
    asked: Mutex<Vec<Asked>>,
    noticed: Mutex<Vec<Notification>>,
    pub(crate) changed: Notify,
    /// True if it does not answer.
    silent: AtomicBool,
}

impl Answering {
    pub(crate) fn silent() -> Arc<Self> {
        Arc::new(Self { silent: true.into(), ..Self::default() })
    }

    /// Answers all questions from now on.
    pub(crate) fn speak_up(&self) {
        self.silent.store(false, Ordering::Release);
    }

    /// The questions since the last call.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Waits for a question.
    pub(crate) async fn is_asked(&self) {
        loop {
            let changed = self.changed.notified();
            if !self.asked.lock().unwrap().is_empty() {
                return;
            }
            changed.await;
        }
    }

    pub(crate) fn noticed(&self, name: &str) -> Vec<Notification> {
        self.noticed.lock().unwrap().iter().filter(|n| n.method == name).cloned().collect()
    }
}

/// The host's answer to a question of this kind.
pub(crate) fn answer(name: &str, params: Option<&Raw>) -> Raw {
    let mode: Option<String> = params.and_then(|params| params.member_as("mode"));
    match (name, mode.as_deref()) {
        (method::ELICIT, Some("url")) => json!({"action": "accept"}),
        (method::ELICIT, _) => json!({"action": "accept", "content": {"name": "Ada"}}),
        (method::CREATE_MESSAGE, _) => {
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "a sample"}})
        }
        _ => json!({"roots": [{"uri": "file:///between"}]}),
    }
    .into()
}

impl Host for Answering {
    fn abilities(&self) -> Abilities {
        Abilities {
            roots: Ability::Yes,
            sampling: Ability::Yes,
            sampling_tools: Ability::No,
            elicitation_form: Ability::Yes,
            elicitation_url: Ability::Yes,
        }
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome> {
        let answer = answer(&asked.method, asked.params.as_ref());
        self.asked.lock().unwrap().push(asked);
        self.changed.notify_waiters();
        if self.silent.load(Ordering::Acquire) {
            future::pending().boxed()
        } else {
            future::ready(Ok(answer)).boxed()
        }
    }

    fn notice(&self, notification: &Notification) {
        self.noticed.lock().unwrap().push(notification.clone());
        self.changed.notify_waiters();
    }
}
