//! Closing: the session is deleted, and no process of the server is left.

use super::Run;
use trunkline_client::{Carrier, State};
use trunkline_protocol::Era;

pub(super) async fn and_check(run: Run) {
    let Run { cell, client, mut peer, .. } = run;
    client.close().await;
    assert_eq!(client.state(), State::Disconnected);
    assert_eq!(client.ping().await.unwrap_err().entry().code, "E221");
    drop(client);
    if let Some(wire) = &peer.wire {
        wire.left().await;
        if cell.carrier == Carrier::StreamableHttp && cell.era == Era::Legacy {
            let session = wire.session().unwrap();
            assert_eq!(wire.deleted().as_ref(), Some(&session));
            let status = wire.status_of_session(&session).await;
            assert!(matches!(status, 400 | 404), "the session is still there: {status}");
        } else {
            assert_eq!((wire.session(), wire.deleted()), (None, None));
        }
    }
    peer.end().await;
    assert_eq!(peer.processes(), Vec::<String>::new());
}
