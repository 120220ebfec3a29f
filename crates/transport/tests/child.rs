//! A server process and its frames. Start and shutdown of processes are tested in
//! `trunkline-process`.
#![expect(clippy::unwrap_used, reason = "a helper of a test may stop at the first surprise")]

use std::time::Duration;

use bytes::Bytes;
use tokio::{process::ChildStdout, time::timeout};
use trunkline_process::{Command, Ending, GracePeriods, ShutdownStep};
use trunkline_transport::{
    child::{ChildLimits, ChildProcess},
    stdio::{FrameReader, Line, SendError},
};

/// Long enough for any machine; reached only when a test fails.
const LONG: Duration = Duration::from_secs(30);
const PATIENT: GracePeriods = GracePeriods { eof: LONG, term: LONG };

fn start(script: &str, limits: ChildLimits) -> (ChildProcess, FrameReader<ChildStdout>) {
    let command = Command::new("/bin/sh").args(["-c", script]).envs([("PATH", "/usr/bin:/bin")]);
    ChildProcess::spawn(&command, limits).unwrap()
}

/// The next line of a child, whatever it is.
async fn line(reader: &mut FrameReader<ChildStdout>) -> Option<String> {
    let line = timeout(LONG, reader.next()).await.expect("the child says something in time").unwrap()?;
    let (Line::Frame(bytes) | Line::Noise(bytes)) = line else {
        panic!("unexpected {line:?}");
    };
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn frames_go_both_ways_and_the_end_of_input_ends_a_polite_child() {
    let (child, mut reader) =
        start("while read -r x; do printf '%s\\n' \"$x\"; done; exit 7", ChildLimits::default());
    let writer = child.writer.clone();
    for number in 0..100 {
        writer.send(Bytes::from(format!("{{\"id\":{number}}}"))).await.unwrap();
    }
    for number in 0..100 {
        assert_eq!(line(&mut reader).await.unwrap(), format!("{{\"id\":{number}}}"));
    }
    let departure = child.shutdown(PATIENT).await;
    assert_eq!((departure.ending, departure.rung), (Ending::Code(7), ShutdownStep::EndOfInput));
    assert_eq!(line(&mut reader).await, None);
}

#[tokio::test]
async fn a_child_that_never_reads_stalls_its_senders_and_can_still_be_ended() {
    let stall = Duration::from_millis(100);
    let mut limits = ChildLimits::default();
    limits.queue.stall = stall;
    limits.queue.bytes = 1 << 20;
    let (child, mut reader) = start("echo up; exec sleep 1000", limits);
    assert_eq!(line(&mut reader).await.unwrap(), "up");
    let writer = child.writer.clone();
    let frame = Bytes::from(format!("{{\"x\":\"{}\"}}", "y".repeat(50_000)));
    let sending = async {
        for _ in 0..100 {
            writer.send(frame.clone()).await?;
        }
        Ok(())
    };
    assert_eq!(timeout(LONG, sending).await.unwrap(), Err(SendError::Stalled(stall)));
    let departure = child.shutdown(GracePeriods { eof: Duration::from_millis(50), term: LONG }).await;
    assert_eq!(departure.rung, ShutdownStep::Terminate);
}

#[tokio::test]
async fn writing_to_a_child_that_is_gone_is_an_error() {
    let (child, _reader) = start("exit 0", ChildLimits::default());
    timeout(LONG, child.process.wait()).await.unwrap();
    let writer = child.writer.clone();
    // The first frame may be queued before the writer notices the closed pipe.
    writer.send(Bytes::from_static(b"{}")).await.ok();
    assert_eq!(
        timeout(LONG, writer.stalled()).await.unwrap(),
        SendError::Closed(std::io::ErrorKind::BrokenPipe)
    );
}
