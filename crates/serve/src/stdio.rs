//! Serving the client that started us, on standard input and output.

use crate::{
    duplex::{Driving, Duplex, Taken},
    options::ServeOptions,
    outgoing::Outgoing,
    service::Service,
};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_protocol::{Caller, Handler};
use trunkline_transport::stdio::{FrameReader, FrameWriter, Line, QueueLimits};

/// Serves until the client closes its end, or reads no more. What is still running then is cancelled.
///
/// The calls are driven here and not by tasks of their own, so that the answers that are ready together go out together.
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
    // It is looked at only when it has woken us.
    let mut unread: FuturesUnordered<_> = [writer.ended()].into_iter().collect();
    loop {
        let read = tokio::select! {
            biased;
            Some(()) = calls.next() => continue,
            read = lines.next() => read?,
            Some(why) = unread.next() => {
                tracing::debug!(%why, "nobody reads what is said");
                break;
            }
        };
        let Some(first) = read else { break };
        let mut next = Some(first);
        // All that came with one read is begun before anything is driven, so that it goes on together, too.
        while let Some(line) = next {
            let taken = match line {
                Line::Frame(frame) | Line::Noise(frame) => client.receive(&frame),
                Line::TooLong { .. } => client.refuse_long(limit),
            };
            match taken {
                Taken::Nothing => {}
                Taken::Call(call) => calls.push(call),
                Taken::First(first) => {
                    let begun = beside(first, &mut calls).await;
                    calls.extend(begun);
                }
            }
            next = lines.next_buffered();
        }
    }
    client.end();
    drop(calls);
    // The last answers go out before we do; a client that closed its end for reading, too, does not want them.
    writer.close().await.unwrap_or_else(|error| tracing::debug!(%error, "the last answers were not taken"));
    Ok(())
}

/// Does something while the calls go on.
async fn beside<T>(mut work: BoxFuture<'_, T>, calls: &mut FuturesUnordered<Driving>) -> T {
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(()) = calls.next() => {}
        }
    }
}
