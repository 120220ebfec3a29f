//! `subscriptions/listen` of 2026-07-28.

use crate::{Raw, view::view};

/// A member of our own in a filter: the wish of a session to hear what a server says to its caller outside of any call. It stays
/// between our own handlers; no server hears of it.
pub const ASIDES: &str = "trunkline/asides";

view! {
    /// What a listener wants to hear, or what a server agreed to tell.
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

    /// `notifications/subscriptions/acknowledged`: the first message of a subscription, with the accepted subset.
    pub struct Acknowledged {
        notifications: SubscriptionFilter = "notifications",
    } optional {
        meta: Raw = "_meta",
    }
}
