//! What is done in every cell, step by step.

mod ask;
mod close;
mod stop;
mod watch;

use crate::{
    cell::Cell,
    ear::{Ear, HANG},
    peers::{self, Peer},
    script::Script,
    site::Site,
};
pub(crate) use ask::make;

use std::{sync::Arc, time::Duration};
use trunkline_client::{
    Client, ConnectOptions, State,
    resilience::{TimeoutOptions, Timeouts},
};

/// Servers start slowly when many of them start at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// One cell in progress.
pub(crate) struct Run {
    pub(crate) cell: Cell,
    pub(crate) client: Client,
    pub(crate) script: Script,
    pub(crate) ear: Ear,
    pub(crate) peer: Peer,
    pub(crate) site: Site,
}

/// Goes through everything that the cell's server has.
pub(crate) async fn exercise(cell: Cell) {
    let run = Box::pin(step("connect", None, Run::begin(cell))).await;
    let ear = run.ear.clone();
    let ear = Some(&ear);
    step("list", ear, ask::lists(&run)).await;
    step("call", ear, ask::calls(&run)).await;
    step("read", ear, ask::reads(&run)).await;
    step("prompt", ear, ask::prompts(&run)).await;
    step("complete", ear, ask::completes(&run)).await;
    step("answer", ear, ask::questions(&run)).await;
    step("progress", ear, watch::progress(&run)).await;
    step("log", ear, watch::logs(&run)).await;
    step("update", ear, watch::updates(&run)).await;
    step("list change", ear, watch::growth(&run)).await;
    step("cancel at once", ear, stop::at_once(&run)).await;
    step("cancel halfway", ear, stop::halfway(&run)).await;
    step("ping", ear, run.client.ping()).await.unwrap();
    Box::pin(step("close", ear, close::and_check(run))).await;
}

/// Does one step; if it hangs, its name and what was heard last are told.
async fn step<T>(name: &str, ear: Option<&Ear>, act: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, act).await.unwrap_or_else(|_| {
        panic!("{name} hangs after {:#?}", ear.map(Ear::last_words));
    })
}

impl Run {
    pub(crate) async fn begin(cell: Cell) -> Self {
        let peer = Peer::prepare(cell).await;
        let site = Site::open().await;
        let ear = Ear::new(peer.root());
        let client = Client::connect(&peer.target, options(cell, &ear)).await.unwrap();
        let server = client.server();
        assert_eq!((server.transport, server.era()), (cell.carrier, cell.era));
        assert_eq!(server.revision, cell.revision());
        assert!(server.name.is_some(), "{server:?}");
        assert_eq!(client.state(), State::Ready);
        if cfg!(target_os = "linux") {
            assert_ne!(peer.processes(), Vec::<String>::new(), "the server must be seen while it runs");
        }
        Self { script: Script::of(cell, &peer.setting(&site)), cell, client, ear, peer, site }
    }

    /// A step is left out only where the server says that it has no such thing.
    fn must_lack(&self, capability: &str) {
        let server = self.client.server();
        assert!(!server.has_capability(capability), "{capability} is offered and not used: {server:?}");
    }
}

fn options(cell: Cell, ear: &Ear) -> ConnectOptions {
    let limits = TimeoutOptions { connect: PATIENCE, call: PATIENCE, ceiling: HANG };
    ConnectOptions {
        speak: cell.speak(),
        timeouts: Timeouts::new(limits).unwrap(),
        environment: peers::environment(),
        host: Arc::new(ear.clone()),
        tap: Some(ear.tap()),
        ..ConnectOptions::default()
    }
}
