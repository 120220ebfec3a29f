use std::{future::poll_fn, time::Duration};

use tokio::time::{Instant, advance, sleep};

use super::{CallTimer, Expired, TimeoutOptions, Timeouts};
use crate::{Moment, Timer, clock::pretend};

const SECOND: Duration = Duration::from_secs(1);

fn timeouts(call: u64, ceiling: u64) -> Timeouts {
    let options = TimeoutOptions {
        call: SECOND * u32::try_from(call).unwrap(),
        ceiling: Duration::from_secs(ceiling),
        ..TimeoutOptions::default()
    };
    Timeouts::new(options).unwrap()
}

fn deadline(call: u64, ceiling: u64) -> CallTimer {
    CallTimer::start_at(&timeouts(call, ceiling), Moment::now())
}

/// Waits for the expiry as callers do.
async fn expired(deadline: &CallTimer) -> Expired {
    let mut timer = Timer::default();
    loop {
        poll_fn(|cx| timer.poll(deadline.expires_at(), cx)).await;
        if let Some(expired) = deadline.expired() {
            return expired;
        }
    }
}

#[test]
fn defaults_are_within_their_own_bounds() {
    let timeouts = Timeouts::default();
    assert_eq!(Timeouts::new(TimeoutOptions::default()).unwrap(), timeouts);
    assert_eq!(
        (timeouts.connect(), timeouts.call(), timeouts.ceiling()),
        (SECOND * 30, SECOND * 60, SECOND * 600)
    );
}

#[tokio::test(start_paused = true)]
async fn silence_ends_at_the_call_limit() {
    let begin = Instant::now();
    let expired = expired(&deadline(60, 600)).await;
    assert_eq!(expired, Expired::Call { limit: SECOND * 60 });
    assert_eq!(begin.elapsed(), SECOND * 60);
    assert_eq!(expired.to_string(), "no answer and no progress within 60s");
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_call_limit_anew() {
    let (begin, deadline) = (Instant::now(), deadline(60, 600));
    advance(SECOND * 50).await;
    deadline.progress();
    assert_eq!(expired(&deadline).await, Expired::Call { limit: SECOND * 60 });
    assert_eq!(begin.elapsed(), SECOND * 110);
}

#[tokio::test(start_paused = true)]
async fn progress_is_seen_by_one_who_waits_already() {
    let (begin, deadline) = (Instant::now(), deadline(60, 600));
    let report = async {
        sleep(SECOND * 59).await;
        deadline.progress();
        sleep(SECOND * 59).await;
        deadline.progress();
    };
    let (expired, ()) = tokio::join!(expired(&deadline), report);
    assert_eq!(expired, Expired::Call { limit: SECOND * 60 });
    assert_eq!(begin.elapsed(), SECOND * 178);
}

#[tokio::test(start_paused = true)]
async fn endless_progress_ends_at_the_ceiling() {
    let (begin, deadline) = (Instant::now(), deadline(60, 600));
    let report = async {
        for _ in 0..200 {
            sleep(SECOND * 7).await;
            deadline.progress();
        }
    };
    let expired = tokio::select! {
        expired = expired(&deadline) => expired,
        () = report => panic!("the ceiling did not end the call"),
    };
    assert_eq!(expired, Expired::Ceiling { limit: SECOND * 600 });
    assert_eq!(begin.elapsed(), SECOND * 600);
    assert_eq!(expired.to_string(), "no answer within 600s, the longest a call may take");
}

#[tokio::test(start_paused = true)]
async fn a_call_limit_as_long_as_the_ceiling_is_the_one_that_strikes() {
    assert_eq!(expired(&deadline(60, 60)).await, Expired::Call { limit: SECOND * 60 });
}

#[tokio::test(start_paused = true)]
async fn progress_under_an_equal_ceiling_makes_it_the_ceiling() {
    let (begin, deadline) = (Instant::now(), deadline(60, 60));
    advance(SECOND).await;
    deadline.progress();
    assert_eq!(expired(&deadline).await, Expired::Ceiling { limit: SECOND * 60 });
    assert_eq!(begin.elapsed(), SECOND * 60);
}

#[tokio::test(start_paused = true)]
async fn progress_after_the_end_revives_nothing() {
    let deadline = deadline(60, 600);
    let end = deadline.expires_at();
    advance(SECOND * 60).await;
    deadline.progress();
    assert_eq!(deadline.expires_at(), end);
    assert_eq!(deadline.expired(), Some(Expired::Call { limit: SECOND * 60 }));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_did_not_take_its_time_itself_gets_it_back_up_to_the_ceiling() {
    let deadline = deadline(60, 130);
    advance(SECOND * 59).await;
    assert_eq!(deadline.expired(), None);
    advance(SECOND * 11).await;
    assert_eq!(deadline.expired(), Some(Expired::Call { limit: SECOND * 60 }));
    deadline.renew();
    assert_eq!((deadline.expired(), deadline.expires_at()), (None, Moment::now() + SECOND * 60));
    advance(SECOND * 60).await;
    deadline.renew();
    assert_eq!(deadline.expired(), Some(Expired::Ceiling { limit: SECOND * 130 }));
}

#[tokio::test(start_paused = true)]
async fn suspension_counts_towards_neither_limit() {
    for (call, ceiling, limit) in
        [(10, 600, Expired::Call { limit: SECOND * 10 }), (10, 12, Expired::Ceiling { limit: SECOND * 12 })]
    {
        let (begin, deadline) = (Instant::now(), deadline(call, ceiling));
        let report = async {
            sleep(SECOND * 4).await;
            deadline.progress();
            sleep(SECOND).await;
            // The process is suspended for a minute and receives the progress late.
            pretend(SECOND * 60);
            sleep(SECOND * 60).await;
            assert_eq!(deadline.expired(), None);
            deadline.progress();
        };
        let (expired, ()) = tokio::join!(expired(&deadline), report);
        assert_eq!(expired, limit);
        let ran = begin.elapsed().saturating_sub(SECOND * 60);
        assert_eq!(ran.as_secs(), if ceiling == 12 { 12 } else { 15 });
    }
}

#[tokio::test(start_paused = true)]
async fn suspension_between_the_start_of_a_call_and_its_timer_does_not_count() {
    let begin = Moment::now();
    pretend(SECOND * 60);
    advance(SECOND * 60).await;
    let deadline = CallTimer::start_at(&timeouts(10, 600), begin);
    assert_eq!((deadline.expired(), deadline.expires_at()), (None, Moment::now() + SECOND * 10));
}

#[tokio::test(start_paused = true)]
async fn suspension_before_a_call_does_not_count_for_it() {
    pretend(SECOND * 60);
    let (begin, deadline) = (Instant::now(), deadline(60, 600));
    assert_eq!(expired(&deadline).await, Expired::Call { limit: SECOND * 60 });
    assert_eq!(begin.elapsed(), SECOND * 60);
}

#[test]
fn limits_out_of_range_are_refused() {
    let refuse = |options| Timeouts::new(options).unwrap_err().to_string();
    let usual = TimeoutOptions::default();
    assert_eq!(
        refuse(TimeoutOptions { connect: Duration::ZERO, ..usual }),
        "connect timeout is 0ns, but must lie between 1ms and 3600s"
    );
    assert_eq!(
        refuse(TimeoutOptions { call: Duration::ZERO, ..usual }),
        "call timeout is 0ns, but must lie between 1ms and 600s"
    );
    assert_eq!(
        refuse(TimeoutOptions { call: SECOND * 601, ..usual }),
        "call timeout is 601s, but must lie between 1ms and 600s"
    );
    assert_eq!(
        refuse(TimeoutOptions { ceiling: Duration::MAX, ..usual }).split(',').nth(1),
        Some(" but must lie between 1ms and 86400s")
    );
}

#[test]
fn a_calls_own_limit_out_of_range_is_refused() {
    let refuse = |call| Timeouts::default().with_call(call).unwrap_err().to_string();
    assert_eq!(refuse(Duration::ZERO), "call timeout is 0ns, but must lie between 1ms and 600s");
    assert_eq!(refuse(SECOND * 1200), "call timeout is 1200s, but must lie between 1ms and 600s");
}
