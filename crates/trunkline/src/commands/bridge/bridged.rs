//! Bridged: one upstream, as the clients of a bridge see it.

use futures_util::stream;
use std::sync::Arc;
use tokio::sync::watch;
use trunkline_gateway::upstream::Upstream;
use trunkline_protocol::{
    Call, Caller, Fault, Handler, Notification, Notify, Part, Raw, Reply,
    message::{ASIDES, meta},
    method,
};

/// The only server behind a bridge.
pub(super) struct Bridged(pub(super) Arc<Upstream>);

/// What a person is told of the server.
pub(super) struct About {
    pub(super) name: Option<String>,
    pub(super) revision: Option<&'static str>,
}

impl Bridged {
    /// Reaches the server before there is a client.
    pub(super) async fn meet(&self) -> Result<About, Fault> {
        let mut call = Call::new(method::DISCOVER, None);
        call.caller = Caller::local();
        let introduction: Raw = self.0.call(call).outcome().await?;
        let identity = meta::get(Some(&introduction), meta::SERVER_INFO);
        Ok(About {
            name: identity.and_then(|identity| identity.member_as("name")),
            revision: self.0.status().revision,
        })
    }
}

impl Handler for Bridged {
    fn call(&self, mut call: Call) -> Reply {
        if call.method == method::LISTEN {
            if Caller::is_ourselves(&call.caller) {
                // Nothing that only we want to know is worth a session with the server.
                return changes(self.0.watch());
            }
            call.params = call.params.map(without_wish);
        }
        self.0.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.0.notify(notice);
    }
}

/// A filter without what only a gateway understands: the one server behind us says everything to its own clients anyway.
fn without_wish(params: Raw) -> Raw {
    let filter = params.member("notifications").and_then(|filter| filter.object());
    let Some(mut filter) = filter else { return params };
    if filter.remove(ASIDES).is_none() {
        return params;
    }
    params.with("notifications", &filter.to_raw()).unwrap_or(params)
}

/// Tells that the tools may be others whenever something about the server changed.
fn changes(watch: watch::Receiver<u64>) -> Reply {
    Reply::new(stream::unfold(watch, |mut watch| async move {
        watch.changed().await.ok()?;
        Some((Part::Notification(Notification::new(method::TOOLS_CHANGED, None)), watch))
    }))
}
