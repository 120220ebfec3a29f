//! Serving the client that started us, on standard input and output.

use crate::{
    duplex::{Duplex, OUTGOING},
    options::ServeOptions,
    service::Service,
};
use std::sync::Arc;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use trunkline_protocol::{Caller, Handler};
use trunkline_transport::stdio::{FrameReader, FrameWriter, Line, QueueLimits};

/// Serves until the client closes its end. What is still running then is cancelled.
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
    let (outgoing, mut queue) = mpsc::channel(OUTGOING);
    let client = Duplex::new(service, Caller::local(), outgoing);
    let printing = tokio::spawn({
        let writer = writer.clone();
        async move {
            while let Some(envelope) = queue.recv().await {
                let envelope: trunkline_protocol::Envelope = envelope;
                if let Err(error) = writer.send(envelope.to_line()).await {
                    tracing::debug!(%error, "the client does not take our answers");
                    return;
                }
            }
        }
    });
    let mut lines = FrameReader::with_limit(input, limit);
    while let Some(line) = lines.next().await? {
        match line {
            Line::Frame(frame) | Line::Noise(frame) => client.receive(&frame).await,
            Line::TooLong { .. } => client.refuse_long(limit).await,
        }
    }
    client.end();
    drop(client);
    // The last answers go out before we do; a client that closed its end for reading, too, does not want them.
    if printing.await.is_ok() {
        writer
            .close()
            .await
            .unwrap_or_else(|error| tracing::debug!(%error, "the last answers were not taken"));
    }
    Ok(())
}
