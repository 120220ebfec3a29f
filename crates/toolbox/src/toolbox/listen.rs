//! `subscriptions/listen`: a long-lived call that streams change notifications.

use super::{Inner, read_params};
use crate::context::{Item, Outbox, Request};
use trunkline_protocol::{
    Caller, Fault, FaultKind, Notification, Outcome, Raw,
    message::{Acknowledged, ListenParams, SubscriptionFilter, TASKS_EXTENSION},
    method,
};

/// Maximum number of resources, and of tasks, in one subscription.
const MAX_NAMED: usize = 1000;

impl Inner {
    pub(super) async fn listen(&self, request: &Request, params: Option<&Raw>, outbox: &Outbox) -> Outcome {
        let params: ListenParams = read_params(params)?;
        let filter = self.accept(params.notifications, request)?;
        let mut subscription = self.listeners.add(&request.caller, filter.clone())?;
        let accepted = Acknowledged::new(filter).to_raw();
        outbox.push(Item::Notification(Notification::new(method::ACKNOWLEDGED, Some(accepted))));
        // A caller that does not read does not poll this future either, so unread changes stay in
        // the subscription's channel, which is bounded.
        while let Some(change) = subscription.next().await {
            outbox.push(Item::Notification(change));
        }
        Err(Fault::new(FaultKind::Overloaded, "the changes were not read fast enough; listen again"))
    }

    /// The part of the requested filter that this caller may subscribe to. Items hidden from the
    /// caller are left out silently.
    fn accept(&self, wish: SubscriptionFilter, request: &Request) -> Result<SubscriptionFilter, Fault> {
        let yes = |wish: Option<bool>| wish.filter(|w| *w);
        let caller = &request.caller;
        let follows_tasks = request.declares_extension(TASKS_EXTENSION);
        let uris = pick(wish.resource_subscriptions, |uri| self.is_readable(uri, caller))?;
        let tasks = pick(wish.task_ids, |id| follows_tasks && self.tasks.is_of(id, caller))?;
        Ok(SubscriptionFilter {
            tools_list_changed: yes(wish.tools_list_changed),
            prompts_list_changed: yes(wish.prompts_list_changed),
            resources_list_changed: yes(wish.resources_list_changed),
            resource_subscriptions: uris,
            task_ids: tasks,
            ..SubscriptionFilter::default()
        })
    }

    fn is_readable(&self, uri: &str, caller: &Caller) -> bool {
        let catalog = self.catalog();
        catalog.resource(uri, caller).is_some() || catalog.family(uri, caller).is_some()
    }
}

fn pick(named: Option<Vec<String>>, granted: impl Fn(&str) -> bool) -> Result<Option<Vec<String>>, Fault> {
    let Some(mut named) = named else { return Ok(None) };
    if named.len() > MAX_NAMED {
        let message = format!("one subscription may name {MAX_NAMED} things, not {}", named.len());
        return Err(Fault::new(FaultKind::InvalidRequest, message));
    }
    named.retain(|name| granted(name));
    Ok((!named.is_empty()).then_some(named))
}
