//! The stdio transport: serves the client that started this process.

use crate::{
    duplex::{Duplex, Received, RunningCall},
    options::ServeOptions,
    outgoing::Outgoing,
    service::Service,
};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_protocol::{Caller, Handler};
use trunkline_transport::stdio::{FrameReader, FrameWriter, Line, QueueLimits};

/// Serves until EOF on `input`, or until `output` fails. Calls in flight are then cancelled.
///
/// Calls are polled here and not spawned, so that responses that are ready together are written
/// together.
pub async fn serve_stdio<R, W>(
    handler: Arc<dyn Handler>,
    options: ServeOptions,
    input: R,
    output: W,
) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let limit = options.limits.body;
    let service = Service::new(handler, options);
    service.start();
    let writer = FrameWriter::new(output, QueueLimits::default());
    let client = Duplex::new(service, Caller::local(), Outgoing::Pipe(writer.clone()));
    let mut lines = FrameReader::with_limit(input, limit);
    let mut calls = FuturesUnordered::new();
    // `FuturesUnordered` polls this future only when it was woken.
    let mut unread: FuturesUnordered<_> = [writer.ended()].into_iter().collect();
    loop {
        let read = tokio::select! {
            biased;
            Some(()) = calls.next() => continue,
            read = lines.next() => read?,
            Some(why) = unread.next() => {
                tracing::debug!(%why, "stopping: the client no longer reads our output");
                break;
            }
        };
        let Some(first) = read else { break };
        let mut next = Some(first);
        // Start all requests of one read before polling any, so that their responses are batched.
        while let Some(line) = next {
            let received = match line {
                Line::Frame(frame) | Line::Noise(frame) => client.receive(&frame),
                Line::TooLong { .. } => client.refuse_long(limit),
                Line::OutOfMemory { .. } => client.refuse_for_memory(),
            };
            match received {
                Received::Nothing => {}
                Received::Call(call) => calls.push(call),
                Received::First(first) => {
                    let begun = await_with_calls(first, &mut calls).await;
                    calls.extend(begun);
                }
            }
            next = lines.next_buffered();
        }
    }
    client.end();
    drop(calls);
    // Flush the last responses. This fails if the client has closed its read end, too.
    writer
        .close()
        .await
        .unwrap_or_else(|error| tracing::debug!(%error, "the last responses could not be written"));
    Ok(())
}

/// Awaits `work` while polling the calls in flight.
async fn await_with_calls<T>(mut work: BoxFuture<'_, T>, calls: &mut FuturesUnordered<RunningCall>) -> T {
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(()) = calls.next() => {}
        }
    }
}
