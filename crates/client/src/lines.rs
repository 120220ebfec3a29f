//! Additional lines: while a question is open on a line that all calls share, another call that
//! may cause questions gets a line of its own. So a caller that does not answer blocks only
//! itself.

use crate::{
    Connection, State, Target,
    connection::Inner,
    conversation::{self, Rounds},
    era::Ask,
    line_lock::LineGuard,
    link::Link,
    relay::Relay,
    switchboard::Standing,
};
use futures_util::{StreamExt, future::join_all, stream};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::Mutex;
use trunkline_protocol::{Era, Fault, Reply};

/// Most lines besides the first.
const MAX_FURTHER: usize = 8;
/// Longest wait of a call for the lock of the first line. Most calls end sooner, and servers may
/// keep state per line.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// The lines of one connection besides its first.
#[derive(Default)]
pub(crate) struct Lines {
    further: Mutex<Vec<Connection>>,
    /// The server to open another line to.
    pub(crate) target: OnceLock<Target>,
}

/// Starts a call that may cause questions, on a line without an open question.
pub(crate) fn begin(
    connection: Arc<Inner>,
    subject: &Arc<str>,
    ask: Ask,
    rounds: Rounds,
    mut relay: Relay,
) -> Reply {
    let subject = subject.clone();
    Reply::new(
        stream::once(async move {
            match connection.line_for(&subject).await {
                Ok((line, guard)) => {
                    relay.guard = Some(guard);
                    let timeouts = Some(line.options.timeouts);
                    conversation::begin(line, ask, rounds, timeouts, Some(relay))
                }
                Err(fault) => Reply::ready(Err(fault)),
            }
        })
        .flatten(),
    )
}

impl Inner {
    /// The subject of a call, if a legacy server may ask during it on a line that all calls share.
    /// Over HTTP a question belongs on the stream of its call, but some servers ask on the stream
    /// of the session; such a session counts as shared.
    pub(crate) fn shared_line(&self, ask: &Ask) -> Option<Arc<str>> {
        let shared = self.speech.era() == Era::Legacy
            && (matches!(self.link, Link::Duplex(_)) || self.link.board().line_lock.had_questions());
        match &ask.standing {
            Standing::Askable(subject) if shared && self.options.behalf.is_some() => Some(subject.clone()),
            _ => None,
        }
    }

    async fn line_for(self: &Arc<Self>, subject: &str) -> Result<(Arc<Self>, LineGuard), Fault> {
        let board = self.link.board();
        if !board.is_asking()
            && let Ok(guard) = board.line_lock.acquire(subject, LOCK_WAIT).await
        {
            self.lines.tidy();
            return Ok((self.clone(), guard));
        }
        let mut further = self.lines.further.lock().await;
        further.retain(|line| line.state() == State::Ready);
        for line in further.iter() {
            let board = line.0.link.board();
            if !board.is_asking()
                && let Ok(guard) = board.line_lock.acquire(subject, Duration::ZERO).await
            {
                return Ok((line.0.clone(), guard));
            }
        }
        if let Some(target) = self.lines.target.get()
            && further.len() < MAX_FURTHER
        {
            let line = Box::pin(Connection::open(target, self.options.clone())).await?;
            let guard = line.0.link.board().line_lock.acquire(subject, LOCK_WAIT).await?;
            further.push(line.clone());
            return Ok((line.0, guard));
        }
        drop(further);
        Ok((self.clone(), board.line_lock.acquire(subject, self.options.timeouts.call()).await?))
    }
}

impl Lines {
    /// Closes idle lines.
    fn tidy(&self) {
        let Ok(mut further) = self.further.try_lock() else { return };
        for line in further.extract_if(.., |line| line.0.link.board().is_idle()) {
            tokio::spawn(async move { line.close().await });
        }
    }

    pub(crate) async fn close(&self) {
        let further = std::mem::take(&mut *self.further.lock().await);
        join_all(further.iter().map(|line| Box::pin(line.close()))).await;
    }
}
