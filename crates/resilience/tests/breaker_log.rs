//! The log of a breaker. It needs its own process, because `tracing` caches per process if a
//! subscriber is interested.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;
use trunkline_resilience::{Admission, Breaker, BreakerOptions};

#[tokio::test(start_paused = true)]
async fn transitions_are_logged_with_the_servers_name() {
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).without_time().with_target(false);
    subscriber.init();
    let breaker = Breaker::new("files", BreakerOptions { failures: 2, ..BreakerOptions::default() }).unwrap();
    let admit = || -> Admission { breaker.admit().expect("a call is admitted") };

    admit().failed(&"connection reset");
    admit().failed(&"connection reset");
    breaker.admit().expect_err("a call is refused");
    tokio::time::advance(Duration::from_secs(30)).await;
    admit().failed(&"connection refused");
    tokio::time::advance(Duration::from_secs(30)).await;
    admit().succeeded();
    admit().succeeded();

    let text = log.text();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            r#"WARN circuit open server="files" failures=2 error="connection reset" open_for=30s"#,
            r#"INFO circuit half open, admitting a trial call server="files""#,
            r#"WARN circuit open server="files" failures=3 error="connection refused" open_for=30s"#,
            r#"INFO circuit half open, admitting a trial call server="files""#,
            r#"INFO circuit closed server="files""#,
        ]
    );
}

/// Collects the log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no writer panicked").clone()).expect("the log is text")
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
