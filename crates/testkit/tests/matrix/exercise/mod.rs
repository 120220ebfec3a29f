//! The steps that run in every cell.

mod ask;
mod close;
mod stop;
mod watch;

use crate::{
    cell::Cell,
    peers::{self, Peer},
    recorder::{HANG, Recorder},
    script::Script,
    site::Site,
};
pub(crate) use ask::make;

use std::{sync::Arc, time::Duration};
use trunkline_client::{
    Client, ConnectOptions, State,
    resilience::{TimeoutOptions, Timeouts},
};

/// Timeout of a connect or call; servers start slowly when many of them start at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// One cell in progress.
pub(crate) struct Run {
    pub(crate) cell: Cell,
    pub(crate) client: Client,
    pub(crate) script: Script,
    pub(crate) recorder: Recorder,
    pub(crate) peer: Peer,
    pub(crate) site: Site,
}

/// Runs all steps that the cell's server supports.
pub(crate) async fn exercise(cell: Cell) {
    let run = Box::pin(step("connect", None, Run::begin(cell))).await;
    let recorder = run.recorder.clone();
    let recorder = Some(&recorder);
    step("list", recorder, ask::lists(&run)).await;
    step("call", recorder, ask::calls(&run)).await;
    step("read", recorder, ask::reads(&run)).await;
    step("prompt", recorder, ask::prompts(&run)).await;
    step("complete", recorder, ask::completes(&run)).await;
    step("answer", recorder, ask::questions(&run)).await;
    step("progress", recorder, watch::progress(&run)).await;
    step("log", recorder, watch::logs(&run)).await;
    step("update", recorder, watch::updates(&run)).await;
    step("list change", recorder, watch::growth(&run)).await;
    step("cancel at once", recorder, stop::at_once(&run)).await;
    step("cancel halfway", recorder, stop::halfway(&run)).await;
    step("ping", recorder, run.client.ping()).await.unwrap();
    Box::pin(step("close", recorder, close::and_check(run))).await;
}

/// Runs one step; if it hangs, panics with its name and the last recorded events.
async fn step<T>(name: &str, recorder: Option<&Recorder>, act: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, act).await.unwrap_or_else(|_| {
        panic!("{name} hangs after {:#?}", recorder.map(Recorder::last_events));
    })
}

impl Run {
    pub(crate) async fn begin(cell: Cell) -> Self {
        let peer = Peer::prepare(cell).await;
        let site = Site::open().await;
        let recorder = Recorder::new(peer.root());
        let client = Client::connect(&peer.target, options(cell, &recorder)).await.unwrap();
        let server = client.server();
        assert_eq!((server.transport, server.era()), (cell.carrier, cell.era));
        assert_eq!(server.revision, cell.revision());
        assert!(server.name.is_some(), "{server:?}");
        assert_eq!(client.state(), State::Ready);
        if cfg!(target_os = "linux") {
            assert_ne!(peer.processes(), Vec::<String>::new(), "the server must be seen while it runs");
        }
        Self { script: Script::of(cell, &peer.setting(&site)), cell, client, recorder, peer, site }
    }

    /// A step may be skipped only if the server does not declare the capability.
    fn must_lack(&self, capability: &str) {
        let server = self.client.server();
        assert!(!server.has_capability(capability), "{capability} is offered and not used: {server:?}");
    }
}

fn options(cell: Cell, recorder: &Recorder) -> ConnectOptions {
    let limits = TimeoutOptions { connect: PATIENCE, call: PATIENCE, ceiling: HANG };
    ConnectOptions {
        speak: cell.speak(),
        timeouts: Timeouts::new(limits).unwrap(),
        environment: peers::environment(),
        host: Arc::new(recorder.clone()),
        tap: Some(recorder.tap()),
        ..ConnectOptions::default()
    }
}
