//! The client's side of a test: a host that answers everything and keeps what it hears, and a tap that keeps every frame.

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::{
    future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::watch;
use trunkline_client::{Abilities, Ability, Asked, Direction, Host, Tap};
use trunkline_protocol::{Notification, Outcome, method};

/// Nothing takes this long; what does, hangs.
pub(crate) const HANG: Duration = Duration::from_mins(2);
/// What is told of a test that hangs.
const LAST_WORDS: usize = 8;

pub(crate) const NAME: &str = "Ada Lovelace";
pub(crate) const MODEL: &str = "matrix-model";
pub(crate) const SAID: &str = "forty-two";

/// Everything that was heard; clones share it.
#[derive(Clone)]
pub(crate) struct Ear {
    root: String,
    kept: Arc<Kept>,
}

struct Kept {
    heard: Mutex<Vec<Heard>>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Clone)]
pub(crate) enum Heard {
    Sent(Value),
    Received(Value),
    Asked { method: String, params: Value },
    Notice { method: String, params: Value },
}

impl Ear {
    /// `root` is the only root that servers are told of.
    pub(crate) fn new(root: impl Into<String>) -> Self {
        let kept = Kept { heard: Mutex::default(), count: watch::Sender::new(0) };
        Self { root: root.into(), kept: Arc::new(kept) }
    }

    pub(crate) fn tap(&self) -> Tap {
        let ear = self.clone();
        Tap::new(move |direction, frame| {
            let Ok(frame) = serde_json::from_slice(frame) else { return };
            match direction {
                Direction::Sent => ear.keep(Heard::Sent(frame)),
                Direction::Received => ear.keep(Heard::Received(frame)),
                Direction::Noise => {}
            }
        })
    }

    pub(crate) fn all(&self) -> Vec<Heard> {
        self.kept.heard.lock().unwrap().clone()
    }

    pub(crate) fn find<T>(&self, pick: impl Fn(&Heard) -> Option<T>) -> Option<T> {
        self.kept.heard.lock().unwrap().iter().find_map(pick)
    }

    pub(crate) fn count(&self, pick: impl Fn(&Heard) -> bool) -> usize {
        self.kept.heard.lock().unwrap().iter().filter(|heard| pick(heard)).count()
    }

    /// Waits until something was heard.
    pub(crate) async fn until<T>(&self, pick: impl Fn(&Heard) -> Option<T>) -> T {
        self.until_after(0, pick).await
    }

    /// The same, without the first so many things that were heard.
    pub(crate) async fn until_after<T>(&self, start: usize, pick: impl Fn(&Heard) -> Option<T>) -> T {
        let mut count = self.kept.count.subscribe();
        let heard = async {
            loop {
                count.mark_unchanged();
                if let Some(found) = self.kept.heard.lock().unwrap().iter().skip(start).find_map(&pick) {
                    return found;
                }
                count.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(HANG, heard).await;
        waited.unwrap_or_else(|_| panic!("not heard; the last was {:#?}", self.last_words()))
    }

    /// What was heard last, for the text of a failure.
    pub(crate) fn last_words(&self) -> Vec<Heard> {
        let heard = self.kept.heard.lock().unwrap();
        heard[heard.len().saturating_sub(LAST_WORDS)..].to_vec()
    }

    fn keep(&self, heard: Heard) {
        let mut all = self.kept.heard.lock().unwrap();
        all.push(heard);
        self.kept.count.send_replace(all.len());
    }

    fn reply(&self, asked: &str, params: &Value) -> Value {
        match asked {
            method::ELICIT if params["mode"] == "url" => json!({"action": "accept"}),
            method::ELICIT => json!({"action": "accept", "content": fill(&params["requestedSchema"])}),
            method::CREATE_MESSAGE => json!({
                "role": "assistant",
                "model": MODEL,
                "stopReason": "endTurn",
                "content": {"type": "text", "text": SAID},
            }),
            _ => json!({"roots": [{"uri": self.root, "name": "matrix"}]}),
        }
    }
}

impl Heard {
    /// The id of a request of this method that went out.
    pub(crate) fn request(&self, method: &str) -> Option<Value> {
        match self {
            Self::Sent(frame) if frame["method"] == method => Some(frame["id"].clone()),
            _ => None,
        }
    }

    /// Whether this is a cancellation of that request, on its way to the server.
    pub(crate) fn cancels(&self, id: &Value) -> bool {
        matches!(self, Self::Sent(frame)
            if frame["method"] == method::CANCELLED && frame["params"]["requestId"] == *id)
    }

    /// Whether this is the server's response to that request.
    pub(crate) fn answers(&self, id: &Value) -> bool {
        matches!(self, Self::Received(frame) if frame.get("method").is_none() && frame["id"] == *id)
    }
}

impl Host for Ear {
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
        let params: Value = asked.params.and_then(|raw| raw.decode().ok()).unwrap_or_default();
        let reply = self.reply(&asked.method, &params);
        self.keep(Heard::Asked { method: asked.method.into_owned(), params });
        future::ready(Ok(reply.into())).boxed()
    }

    fn notice(&self, notification: &Notification) {
        let params = notification.params.as_ref().and_then(|raw| raw.decode().ok()).unwrap_or_default();
        self.keep(Heard::Notice { method: notification.method.to_string(), params });
    }
}

/// A value for each required field of a form: a name, or the first choice.
fn fill(schema: &Value) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let field = |name: &Value| {
        let name = name.as_str().unwrap().to_owned();
        let choice = schema["properties"][&name]["oneOf"][0]["const"].clone();
        let value = if choice.is_null() { json!(NAME) } else { choice };
        (name, value)
    };
    Value::Object(required.iter().map(field).collect())
}
