//! A test bench: an authorization server and a protected MCP server on this machine, with a switch
//! for every known failure.

mod authority;
mod failure;
mod http_server;
mod protected;
mod state;

use std::{io, sync::Arc};
use tokio::task::AbortHandle;

pub use failure::{FAILURES, Failure};
pub use state::{BenchOptions, LogLine};

use http_server::Listener;
use state::State;

/// A running bench. It ends when it is dropped.
#[derive(Debug)]
pub struct Bench {
    state: Arc<State>,
    tasks: [AbortHandle; 2],
}

impl Bench {
    /// Starts both servers on free ports, or the MCP server on `options.port`.
    pub async fn start(options: BenchOptions) -> io::Result<Self> {
        let protected = Listener::bind(options.port).await?;
        let authority = Listener::bind(None).await?;
        let state = Arc::new(State::new(options, protected.address(), authority.address()));
        let tasks = [
            protected.serve(state.clone(), protected::answer),
            authority.serve(state.clone(), authority::answer),
        ];
        Ok(Self { state, tasks })
    }

    /// The address of the MCP server.
    pub fn server(&self) -> String {
        self.state.resource()
    }

    pub fn issuer(&self) -> &str {
        self.state.issuer()
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<LogLine> {
        self.state.log()
    }

    /// The number of token requests of a grant.
    pub fn grants(&self, grant: &str) -> usize {
        self.state.log().iter().filter(|line| line.grant.as_deref() == Some(grant)).count()
    }

    /// Waits for the next request after the first `seen` ones.
    pub async fn next(&self, seen: usize) -> LogLine {
        self.state.next(seen).await
    }

    /// Switches a failure on or off.
    pub fn set(&self, failure: Failure, on: bool) {
        self.state.set(failure, on);
    }

    /// Ends the lifetime of all access tokens that were issued so far.
    pub fn expire_tokens(&self) {
        self.state.expire_tokens();
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
