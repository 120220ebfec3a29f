//! Subscriptions to resources, accepted and refused.

use crate::{host::Answering, site::Cell};
use std::sync::Arc;
use trunkline_client::{Client, Interest, Subscription};
use trunkline_protocol::{Era, Fault};

every_cell!(a_subscription_is_answered_by_the_server, super::subscribed);

async fn subscribe(client: &Client, uri: &str) -> Result<Subscription, Fault> {
    client.subscribe(Interest { uris: vec![uri.to_owned()], ..Interest::default() }).await
}

async fn subscribed(cell: Cell) {
    let site = cell.site();
    let client = site.client(cell.client, Arc::new(Answering::default())).await;
    let refused = subscribe(&client, "test://nobody-has-this").await;
    match cell.client.era() {
        Era::Legacy => assert_eq!(refused.unwrap_err().original_mcp_code(), Some(-32002), "{cell:?}"),
        // The acknowledgement lists what was accepted; a refused resource is not an error.
        Era::Modern => drop(refused.unwrap()),
    }
    // The refusal does not affect other subscriptions.
    let watched = subscribe(&client, "test://watched-resource").await.unwrap();
    assert!(
        subscribe(&client, "test://nobody-has-this-either").await.is_err()
            == (cell.client.era() == Era::Legacy)
    );
    drop(watched);
    client.close().await;
}
