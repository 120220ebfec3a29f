//! `subscriptions/listen`: changes of what this caller may see, from as many servers as it takes.
//!
//! Changes of lists are made here, from one snapshot to the next; servers are not asked for them. Resources and tasks are watched at
//! the server they belong to, which is asked again whenever its own stream ends.

mod asides;
mod changes;
mod relay;
mod wishes;

use super::{Inner, faults};
use asides::Asides;
use changes::Changes;
use futures_util::{
    Stream, StreamExt,
    future::{self, Either},
    stream::{self, BoxStream},
};
use relay::Relay;
use std::sync::Arc;
use trunkline_protocol::{
    Call, Fault, FaultKind, Notification, Part, Reply,
    message::{Acknowledged, ListenParams, SubscriptionFilter},
    method,
};
use wishes::Wishes;

impl Inner {
    pub(super) fn listen(self: &Arc<Self>, call: Call) -> Reply {
        let inner = Arc::clone(self);
        // A client may listen for hours: what is needed only to begin does not stay for so long.
        let parts = Box::pin(async move {
            match inner.open(call).await {
                Ok(parts) => Either::Left(parts),
                Err(fault) => Either::Right(stream::once(future::ready(Part::Final(Err(fault))))),
            }
        });
        Reply::new(stream::once(parts).flatten())
    }

    async fn open(self: &Arc<Self>, call: Call) -> Result<impl Stream<Item = Part> + Send + use<>, Fault> {
        let seat = self.listeners.take(&call.caller)?;
        let mut params: ListenParams = match &call.params {
            Some(params) => params.decode().map_err(|e| unreadable(&e))?,
            None => return Err(faults::missing("notifications")),
        };
        let catalog = self.now.load_full();
        let view = catalog.view(call.view.as_deref()).ok_or_else(|| faults::no_view(call.view.as_deref()))?;
        let wants_asides = asides::taken(&mut params.notifications);
        let (lists, wishes) = Wishes::sort(self, &catalog, view, (&call.caller, params.notifications))?;
        // From here on no change is missed, whatever the servers take to agree.
        let changes = Changes::new(self, &call, &lists);
        let relays = wishes.into_iter().map(|wish| Relay::open(Arc::clone(self), call.clone(), wish));
        let agreed = future::join_all(relays).await;
        let mut accepted = lists;
        let mut streams: Vec<BoxStream<'static, Part>> = vec![changes.parts().boxed()];
        if let Some(wish) = wants_asides {
            asides::accept(&mut accepted, wish);
            for server in &view.servers {
                streams.push(Asides::new(self, &call, server.name().as_ref()).parts().boxed());
            }
        }
        for (relay, granted) in agreed.into_iter().flatten() {
            add(&mut accepted, granted);
            streams.push(relay.parts().boxed());
        }
        let told = Notification::new(method::ACKNOWLEDGED, Some(Acknowledged::new(accepted).to_raw()));
        let first = stream::once(future::ready(Part::Notification(told)));
        let parts = first.chain(stream::select_all(streams));
        Ok(parts.map(move |part| {
            // The place is held for as long as the stream is.
            let _held = &seat;
            part
        }))
    }
}

/// Adds what one server granted to what all granted.
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
