//! The client's side of a test: a host that answers every request and records it, and a tap that
//! records every frame.

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::{
    future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::watch;
use trunkline_client::{Abilities, Ability, Asked, Direction, FrameTap, Host};
use trunkline_protocol::{Notification, Outcome, method};

/// Timeout of one step; only a hanging step takes this long.
pub(crate) const HANG: Duration = Duration::from_mins(2);
/// Number of recorded events shown for a test that hangs.
const LAST_EVENTS: usize = 8;

pub(crate) const NAME: &str = "Ada Lovelace";
pub(crate) const MODEL: &str = "matrix-model";
pub(crate) const SAID: &str = "forty-two";

/// Records all frames, requests and notifications; clones share the record.
#[derive(Clone)]
pub(crate) struct Recorder {
    root: String,
    kept: Arc<Kept>,
}

struct Kept {
    events: Mutex<Vec<Recorded>>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Clone)]
pub(crate) enum Recorded {
    Sent(Value),
    Received(Value),
    Asked { method: String, params: Value },
    Notice { method: String, params: Value },
}

impl Recorder {
    /// `root` is the only root that the host reports.
    pub(crate) fn new(root: impl Into<String>) -> Self {
        let kept = Kept { events: Mutex::default(), count: watch::Sender::new(0) };
        Self { root: root.into(), kept: Arc::new(kept) }
    }

    pub(crate) fn tap(&self) -> FrameTap {
        let recorder = self.clone();
        FrameTap::new(move |direction, frame| {
            let Ok(frame) = serde_json::from_slice(frame) else { return };
            match direction {
                Direction::Sent => recorder.keep(Recorded::Sent(frame)),
                Direction::Received => recorder.keep(Recorded::Received(frame)),
                Direction::Noise => {}
            }
        })
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.kept.events.lock().unwrap().clone()
    }

    pub(crate) fn find<T>(&self, pick: impl Fn(&Recorded) -> Option<T>) -> Option<T> {
        self.kept.events.lock().unwrap().iter().find_map(pick)
    }

    pub(crate) fn count(&self, pick: impl Fn(&Recorded) -> bool) -> usize {
        self.kept.events.lock().unwrap().iter().filter(|event| pick(event)).count()
    }

    /// Waits for the first event that `pick` accepts.
    pub(crate) async fn until<T>(&self, pick: impl Fn(&Recorded) -> Option<T>) -> T {
        self.until_after(0, pick).await
    }

    /// The same, but ignores the first `start` events.
    pub(crate) async fn until_after<T>(&self, start: usize, pick: impl Fn(&Recorded) -> Option<T>) -> T {
        let mut count = self.kept.count.subscribe();
        let search = async {
            loop {
                count.mark_unchanged();
                if let Some(found) = self.kept.events.lock().unwrap().iter().skip(start).find_map(&pick) {
                    return found;
                }
                count.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(HANG, search).await;
        waited.unwrap_or_else(|_| panic!("no such event; the last were {:#?}", self.last_events()))
    }

    /// Returns the last events, for the message of a failure.
    pub(crate) fn last_events(&self) -> Vec<Recorded> {
        let events = self.kept.events.lock().unwrap();
        events[events.len().saturating_sub(LAST_EVENTS)..].to_vec()
    }

    fn keep(&self, event: Recorded) {
        let mut all = self.kept.events.lock().unwrap();
        all.push(event);
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

impl Recorded {
    /// Returns the id if this is a sent request with this method.
    pub(crate) fn request(&self, method: &str) -> Option<Value> {
        match self {
            Self::Sent(frame) if frame["method"] == method => Some(frame["id"].clone()),
            _ => None,
        }
    }

    /// True if this is a sent cancellation of that request.
    pub(crate) fn cancels(&self, id: &Value) -> bool {
        matches!(self, Self::Sent(frame)
            if frame["method"] == method::CANCELLED && frame["params"]["requestId"] == *id)
    }

    /// True if this is the server's response to that request.
    pub(crate) fn answers(&self, id: &Value) -> bool {
        matches!(self, Self::Received(frame) if frame.get("method").is_none() && frame["id"] == *id)
    }
}

impl Host for Recorder {
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
        self.keep(Recorded::Asked { method: asked.method.into_owned(), params });
        future::ready(Ok(reply.into())).boxed()
    }

    fn notice(&self, notification: &Notification) {
        let params = notification.params.as_ref().and_then(|raw| raw.decode().ok()).unwrap_or_default();
        self.keep(Recorded::Notice { method: notification.method.to_string(), params });
    }
}

/// Returns a value for each required field of a form: a name, or the first choice.
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
