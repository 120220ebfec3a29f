//! Listens for appended events of other processes on a connection of its own.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use redis::Client;
use tokio::{task::AbortHandle, time::sleep};
use tracing::debug;

use crate::followers::Followers;

/// Pause before the connection is opened again.
const PAUSE: Duration = Duration::from_millis(250);

/// Ends when dropped.
#[derive(Debug)]
pub(super) struct Subscription(AbortHandle);

impl Subscription {
    /// `prefix` is the beginning of all channels; the rest of a channel is the log's name.
    pub(super) fn start(client: Client, prefix: String, followers: Arc<Followers>) -> Self {
        let listening = async move {
            loop {
                if let Err(error) = listen(&client, &prefix, &followers).await {
                    debug!(error = %error, "the store's subscription failed; it is opened again");
                }
                sleep(PAUSE).await;
            }
        };
        Self(tokio::spawn(listening).abort_handle())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn listen(client: &Client, prefix: &str, followers: &Followers) -> Result<(), redis::RedisError> {
    let mut connection = client.get_async_pubsub().await?;
    connection.psubscribe(format!("{prefix}*")).await?;
    // Events may have been appended while there was no subscription.
    followers.wake_all();
    let mut messages = connection.on_message();
    while let Some(message) = messages.next().await {
        if let Some(log) = message.get_channel_name().strip_prefix(prefix) {
            followers.wake(log);
        }
    }
    Ok(())
}
