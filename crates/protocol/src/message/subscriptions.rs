//! `subscriptions/listen` of 2026-07-28.

use crate::{Raw, view::view};

/// Our own member of a filter: the session also wants the notifications that a server sends to its
/// caller outside of any call. Only our own handlers use it; it is never sent to a server.
pub const UNSOLICITED: &str = "trunkline/unsolicited";

view! {
    /// The notifications that a client requests, or that a server agreed to send.
    pub struct SubscriptionFilter {
    } optional {
        tools_list_changed: bool = "toolsListChanged",
        prompts_list_changed: bool = "promptsListChanged",
        resources_list_changed: bool = "resourcesListChanged",
        resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// Tasks extension.
        task_ids: Vec<String> = "taskIds",
    }

    /// The parameters of `subscriptions/listen`.
    pub struct ListenParams {
        notifications: SubscriptionFilter = "notifications",
    } optional {
        meta: Raw = "_meta",
    }

    /// `notifications/subscriptions/acknowledged`: the first message of a subscription, with the
    /// accepted subset.
    pub struct Acknowledged {
        notifications: SubscriptionFilter = "notifications",
    } optional {
        meta: Raw = "_meta",
    }
}
