//! The faulty server on a pair of byte streams.

use super::{
    Act, Kind, Script,
    conversation::{Conversation, Received, Reply},
};
use parking_lot::Mutex;
use std::{collections::BTreeMap, io, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    task::AbortHandle,
};

/// Capacity of the in-process pipe.
const PIPE: usize = 64 * 1024;

/// Bytes at the end of an answer that are held back.
const TAIL: usize = 40;

/// Lifetime of a child process that is left behind.
const CHILD_SECONDS: &str = "5";

/// Serves until EOF of the input and returns the exit status. Never returns if the script says
/// that the server stays.
pub async fn serve(
    script: Script,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<i32> {
    let mut conversation = Conversation::new(script);
    let start = conversation.event(Kind::Start);
    tokio::time::sleep(Duration::from_millis(start.delay_ms)).await;
    for line in &start.before {
        output.write_all(format!("{line}\n").as_bytes()).await?;
    }
    if let Some(code) = start.exit {
        return Ok(code);
    }
    let mut lines = BufReader::new(input);
    let mut held: Option<Vec<u8>> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).await? == 0 {
            break;
        }
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        if bytes.trim_ascii().is_empty() {
            if let Some(code) = conversation.event(Kind::Blank).exit {
                return Ok(code);
            }
            continue;
        }
        let reply =
            conversation.reply_to(&Received { bytes, http: None, path: "", headers: BTreeMap::new() });
        if !conversation.script.buffered
            && let Some(late) = held.take()
        {
            output.write_all(&late).await?;
        }
        reply.fetch().await;
        let text = text_of(&reply);
        tokio::time::sleep(Duration::from_millis(reply.act.delay_ms)).await;
        let now = written_at_once(&conversation.script, &reply.act, text.len());
        output.write_all(&text[..now]).await?;
        output.flush().await?;
        if now < text.len() {
            held.get_or_insert_default().extend_from_slice(&text[now..]);
        }
        if let Some(code) = reply.act.exit {
            return Ok(code);
        }
    }
    if let Some(late) = held {
        output.write_all(&late).await?;
        output.flush().await?;
    }
    let end = conversation.event(Kind::End);
    if end.child {
        std::process::Command::new("sleep").arg(CHILD_SECONDS).spawn()?;
    }
    if end.stay {
        std::future::pending::<()>().await;
    }
    Ok(0)
}

/// The number of bytes of an answer that are not held back.
fn written_at_once(script: &Script, act: &Act, length: usize) -> usize {
    if script.buffered || act.hold {
        0
    } else if act.hold_tail {
        length.saturating_sub(TAIL)
    } else {
        length
    }
}

/// The earlier connection to a server inside this process.
pub type Earlier = Mutex<Option<AbortHandle>>;

/// Starts a server inside this process and returns the client's two ends of the pipe. Must be
/// called on a runtime.
pub fn inside(
    script: &Script,
    earlier: &Earlier,
) -> (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (input, output) = tokio::io::split(theirs);
    let (script, alone) = (script.clone(), script.alone);
    let serving = tokio::spawn(async move {
        // The client may disconnect at any time, as at the end of a test.
        serve(script, input, output).await.ok();
    });
    let earlier = earlier.lock().replace(serving.abort_handle());
    if let Some(earlier) = earlier.filter(|_| alone) {
        earlier.abort();
    }
    let (read, write) = tokio::io::split(ours);
    (Box::new(read), Box::new(write))
}

fn text_of(reply: &Reply) -> Vec<u8> {
    let mut text = Vec::new();
    for line in &reply.act.before {
        text.extend_from_slice(reply.filled(line).as_bytes());
        text.push(b'\n');
    }
    if let Some(answer) = reply.text() {
        text.extend_from_slice(&answer);
        text.push(b'\n');
    }
    for line in &reply.act.after {
        text.extend_from_slice(reply.filled(line).as_bytes());
        text.push(b'\n');
    }
    text
}
