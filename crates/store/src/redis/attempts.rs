//! Repeats an operation while the server is away, within the time limit.

use std::{future::Future, time::Duration};

use redis::{ErrorKind, RedisError, ServerErrorKind};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::StoreError;

const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);

/// Permission to send an operation again although its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// A second execution changes nothing.
    Safe,
    /// Only after an error that says that nothing was executed.
    IfRefused,
}

/// The meaning of an error for the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Not executed; the server may take it later (it loads its data, or is a replica for now).
    Later,
    /// It may have been executed: the connection was lost.
    Lost,
    /// Executed or refused for good.
    Final,
}

pub(super) async fn attempts<T, F, A>(
    limit: Duration,
    repeat: Repeat,
    mut attempt: F,
) -> Result<T, StoreError>
where
    F: FnMut() -> A,
    A: Future<Output = Result<T, RedisError>>,
{
    let deadline = Instant::now() + limit;
    let (mut pause, mut last, mut lost) = (FIRST_PAUSE, None::<RedisError>, false);
    loop {
        let Ok(result) = timeout_at(deadline, attempt()).await else {
            // The attempt that was cut off may have been executed.
            return Err(given_up(last, true));
        };
        let error = match result {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match fate(&error) {
            Fate::Final => return Err(told(&error)),
            Fate::Lost if repeat == Repeat::IfRefused => return Err(StoreError::Unknown(error.to_string())),
            fate => lost |= fate == Fate::Lost,
        }
        let next = Instant::now() + pause;
        if next >= deadline {
            return Err(given_up(Some(error), lost));
        }
        last = Some(error);
        sleep_until(next).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn given_up(last: Option<RedisError>, lost: bool) -> StoreError {
    let cause = last.map_or_else(|| "no answer within the time limit".to_owned(), |error| error.to_string());
    if lost { StoreError::Unknown(cause) } else { StoreError::Unavailable(cause) }
}

fn fate(error: &RedisError) -> Fate {
    match error.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly,
        ) => Fate::Later,
        _ if error.is_connection_refusal() => Fate::Later,
        _ if error.is_io_error() || error.is_connection_dropped() || error.is_timeout() => Fate::Lost,
        _ if is_read_only(error) => Fate::Later,
        _ => Fate::Final,
    }
}

/// A script that fails on a replica reports the refusal inside its own error text.
fn is_read_only(error: &RedisError) -> bool {
    error.to_string().contains("READONLY")
}

fn told(error: &RedisError) -> StoreError {
    if error.code() == Some("OOM") || error.to_string().contains("OOM command not allowed") {
        return StoreError::Full(error.to_string());
    }
    match error.kind() {
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreError::Damaged(error.to_string()),
        _ => StoreError::Refused(error.to_string()),
    }
}
