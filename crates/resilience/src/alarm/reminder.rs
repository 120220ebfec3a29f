//! Reminder: an alarm whose time may change.

use super::Alarm;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::time::Instant;

/// Waits for one moment after another. To put it off costs nothing: it is noticed when the earlier moment comes.
#[derive(Default)]
pub struct Reminder(Option<(Instant, Alarm)>);

impl Reminder {
    /// Waits for this moment, which may be another than the last time.
    pub fn poll(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match &mut self.0 {
                Some((due, alarm)) if *due <= at => {
                    ready!(Pin::new(alarm).poll(cx));
                    if *due == at {
                        return Poll::Ready(());
                    }
                    self.0 = None;
                }
                set => *set = Some((at, Alarm::at(at))),
            }
        }
    }
}

impl fmt::Debug for Reminder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reminder").field(&self.0.as_ref().map(|(due, _)| due)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, time::Duration};

    #[tokio::test(start_paused = true)]
    async fn a_moment_may_be_put_off_or_come_sooner() {
        let mut reminder = Reminder::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        for moment in [at(60), at(90), at(30)] {
            assert!(poll_fn(|cx| Poll::Ready(reminder.poll(moment, cx))).await.is_pending());
        }
        for moment in [at(30), at(31), at(100)] {
            poll_fn(|cx| reminder.poll(moment, cx)).await;
            assert_eq!(Instant::now(), moment);
        }
        assert!(poll_fn(|cx| Poll::Ready(reminder.poll(at(50), cx))).await.is_ready());
    }
}
