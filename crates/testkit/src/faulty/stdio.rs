//! The faulty server on a pair of byte streams.

use super::{
    Kind, Script,
    conversation::{Conversation, Heard, Told},
};
use std::{collections::BTreeMap, io, time::Duration};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// What a pipe inside a process holds.
const PIPE: usize = 64 * 1024;

/// How long a child that is left behind goes on.
const CHILD_SECONDS: &str = "5";

/// Serves until the input ends. Tells the exit status, if the script has one; `None` inside means to stay for ever.
pub async fn serve(
    script: Script,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<i32> {
    let mut talk = Conversation::new(script);
    let start = talk.event(Kind::Start);
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
        let bytes = line.trim_ascii();
        if bytes.is_empty() {
            continue;
        }
        let told = talk.hear(&Heard { bytes, http: None, headers: BTreeMap::new() });
        if !talk.script.buffered
            && let Some(late) = held.take()
        {
            output.write_all(&late).await?;
        }
        told.fetch().await;
        let text = text_of(&told);
        tokio::time::sleep(Duration::from_millis(told.act.delay_ms)).await;
        if talk.script.buffered {
            held.get_or_insert_default().extend_from_slice(&text);
        } else if told.act.hold {
            held = Some(text);
        } else {
            output.write_all(&text).await?;
            output.flush().await?;
        }
        if let Some(code) = told.act.exit {
            return Ok(code);
        }
    }
    if let Some(late) = held {
        output.write_all(&late).await?;
        output.flush().await?;
    }
    let end = talk.event(Kind::End);
    if end.child {
        std::process::Command::new("sleep").arg(CHILD_SECONDS).spawn()?;
    }
    if end.stay {
        std::future::pending::<()>().await;
    }
    Ok(0)
}

/// A server inside this process: what to read from and write to. Must be called on a runtime.
pub fn inside(script: &Script) -> (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (input, output) = tokio::io::split(theirs);
    let script = script.clone();
    tokio::spawn(async move {
        // The other side may leave at any time; that is how a test ends.
        serve(script, input, output).await.ok();
    });
    let (read, write) = tokio::io::split(ours);
    (Box::new(read), Box::new(write))
}

fn text_of(told: &Told) -> Vec<u8> {
    let mut text = Vec::new();
    for line in &told.act.before {
        text.extend_from_slice(told.filled(line).as_bytes());
        text.push(b'\n');
    }
    if let Some(answer) = told.text() {
        text.extend_from_slice(&answer);
        text.push(b'\n');
    }
    for line in &told.act.after {
        text.extend_from_slice(told.filled(line).as_bytes());
        text.push(b'\n');
    }
    text
}
