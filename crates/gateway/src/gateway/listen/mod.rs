//! `subscriptions/listen`: one stream of the changes that this caller may see, from all servers.
//!
//! Changes of lists are found by comparing snapshots, without subscribing at the servers. For
//! resources and tasks the gateway subscribes at their server, and again whenever that stream
//! ends.

mod changes;
mod relay;
mod server_subscription;
mod unsolicited;

use super::{Inner, faults};
use changes::Changes;
use futures_util::{
    Stream, StreamExt,
    future::{self, Either},
    stream::{self, BoxStream},
};
use relay::Relay;
use server_subscription::ServerSubscription;
use std::sync::Arc;
use trunkline_protocol::{
    Call, Fault, FaultKind, Notification, Part, Reply,
    message::{Acknowledged, ListenParams, SubscriptionFilter},
    method,
};
use unsolicited::Unsolicited;

impl Inner {
    pub(super) fn listen(self: &Arc<Self>, call: Call) -> Reply {
        let inner = Arc::clone(self);
        // Boxed: a client may listen for hours, and the state of `open` is freed after the start.
        let parts = Box::pin(async move {
            match inner.open(call).await {
                Ok(parts) => Either::Left(parts),
                Err(fault) => Either::Right(stream::once(future::ready(Part::Final(Err(fault))))),
            }
        });
        Reply::new(stream::once(parts).flatten())
    }

    async fn open(self: &Arc<Self>, call: Call) -> Result<impl Stream<Item = Part> + Send + use<>, Fault> {
        let slot = self.shared.listeners.take(&call.caller)?;
        let mut params: ListenParams = match &call.params {
            Some(params) => params.decode().map_err(|e| unreadable(&e))?,
            None => return Err(faults::missing("notifications")),
        };
        let catalog = self.now.load_full();
        let view = catalog.view(call.view.as_deref()).ok_or_else(|| faults::no_view(call.view.as_deref()))?;
        let wants_unsolicited = unsolicited::taken(&mut params.notifications);
        let (lists, subscriptions) =
            ServerSubscription::sort(self, &catalog, view, &call.caller, &params.notifications)?;
        // From here on no change is missed, however long the servers take to acknowledge.
        let changes = Changes::new(self, &call, &lists);
        let relays =
            subscriptions.into_iter().map(|wanted| Relay::open(Arc::clone(self), call.clone(), wanted));
        let agreed = future::join_all(relays).await;
        let mut accepted = lists;
        let mut streams: Vec<BoxStream<'static, Part>> = vec![changes.parts().boxed()];
        if let Some(request) = wants_unsolicited {
            unsolicited::accept(&mut accepted, request);
            for server in &view.servers {
                streams.push(Unsolicited::new(self, &call, server.name().as_ref()).parts().boxed());
            }
        }
        for (relay, granted) in agreed.into_iter().flatten() {
            add(&mut accepted, granted);
            streams.push(relay.parts().boxed());
        }
        let acknowledged =
            Notification::new(method::ACKNOWLEDGED, Some(Acknowledged::new(accepted).to_raw()));
        let first = stream::once(future::ready(Part::Notification(acknowledged)));
        let parts = first.chain(stream::select_all(streams));
        Ok(parts.map(move |part| {
            // The slot is held until the stream is dropped.
            let _held = &slot;
            part
        }))
    }
}

/// Adds the part that one server acknowledged.
fn add(accepted: &mut SubscriptionFilter, granted: SubscriptionFilter) {
    let join = |all: &mut Option<Vec<String>>, more: Option<Vec<String>>| {
        if let Some(more) = more.filter(|more| !more.is_empty()) {
            all.get_or_insert_default().extend(more);
        }
    };
    join(&mut accepted.resource_subscriptions, granted.resource_subscriptions);
    join(&mut accepted.task_ids, granted.task_ids);
    for (name, value) in granted.rest.iter() {
        accepted.rest.set(name.to_owned(), value.clone());
    }
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::new(FaultKind::InvalidRequest, format!("the parameters cannot be read: {error}"))
}
