use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, advance};

use super::{Admission, Breaker, BreakerCounts, BreakerOptions, BreakerState, Refused};

const REST: Duration = Duration::from_secs(30);
const MOMENT: Duration = Duration::from_millis(1);

fn breaker() -> Breaker {
    Breaker::new("files", BreakerOptions::default()).unwrap()
}

fn admit(breaker: &Breaker) -> Admission {
    breaker.admit().expect("a call is admitted")
}

fn refused(breaker: &Breaker) -> Refused {
    breaker.admit().expect_err("a call is refused")
}

fn fail(breaker: &Breaker, times: u32) {
    for _ in 0..times {
        admit(breaker).failed(&"connection reset");
    }
}

/// A breaker that has just opened.
fn opened() -> Breaker {
    let breaker = breaker();
    fail(&breaker, 5);
    assert!(matches!(breaker.state(), BreakerState::Open { .. }));
    breaker
}

/// A half-open breaker, with its trial.
async fn on_trial() -> (Breaker, Admission) {
    let breaker = opened();
    advance(REST).await;
    let trial = admit(&breaker);
    assert!(trial.is_trial());
    (breaker, trial)
}

#[tokio::test(start_paused = true)]
async fn stays_closed_below_the_limit() {
    let breaker = breaker();
    fail(&breaker, 4);
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 4 });
    assert!(!admit(&breaker).is_trial());
}

#[tokio::test(start_paused = true)]
async fn a_success_forgets_earlier_failures() {
    let breaker = breaker();
    fail(&breaker, 4);
    admit(&breaker).succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
    fail(&breaker, 4);
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 4 });
}

#[tokio::test(start_paused = true)]
async fn opens_at_the_limit_and_refuses_with_the_facts() {
    let breaker = breaker();
    fail(&breaker, 4);
    let now = Instant::now();
    admit(&breaker).failed(&"broken pipe");
    assert_eq!(breaker.state(), BreakerState::Open { since: now, until: now + REST });

    advance(Duration::from_secs(10)).await;
    let refused = refused(&breaker);
    assert_eq!(
        refused,
        Refused {
            retry_after: Duration::from_secs(20),
            since: now,
            failures: 5,
            last_error: Arc::from("broken pipe")
        }
    );
    assert_eq!(
        refused.to_string(),
        "the server's circuit is open (failures in a row: 5); try again in 20.0s"
    );
}

#[tokio::test(start_paused = true)]
async fn refuses_until_the_last_moment_of_the_rest() {
    let breaker = opened();
    advance(REST.saturating_sub(MOMENT)).await;
    assert_eq!(refused(&breaker).retry_after, MOMENT);
    advance(MOMENT).await;
    let since = Instant::now() - REST;
    let _trial = admit(&breaker);
    assert_eq!(breaker.state(), BreakerState::HalfOpen { since });
}

#[tokio::test(start_paused = true)]
async fn a_half_open_breaker_admits_one_trial_only() {
    let (breaker, _trial) = on_trial().await;
    advance(Duration::from_secs(1)).await;
    assert_eq!(refused(&breaker).retry_after, Duration::from_secs(29));
}

#[tokio::test(start_paused = true)]
async fn a_half_open_breaker_admits_as_many_trials_as_set() {
    let options = BreakerOptions { failures: 1, trials: 2, ..BreakerOptions::default() };
    let breaker = Breaker::new("files", options).unwrap();
    fail(&breaker, 1);
    advance(REST).await;
    let (first, second) = (admit(&breaker), admit(&breaker));
    refused(&breaker);
    first.succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
    second.failed(&"late");
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_succeeds_closes() {
    let (breaker, trial) = on_trial().await;
    trial.succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
    assert!(!admit(&breaker).is_trial());
    fail(&breaker, 4);
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 4 });
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_fails_opens_for_another_rest() {
    let (breaker, trial) = on_trial().await;
    let since = Instant::now() - REST;
    trial.failed(&"still down");
    let until = Instant::now() + REST;
    assert_eq!(breaker.state(), BreakerState::Open { since, until });
    let refused = refused(&breaker);
    assert_eq!((refused.failures, &*refused.last_error), (6, "still down"));
    advance(REST).await;
    assert!(admit(&breaker).is_trial());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_trial_frees_its_place_and_counts_for_nothing() {
    let (breaker, trial) = on_trial().await;
    drop(trial);
    assert!(matches!(breaker.state(), BreakerState::HalfOpen { .. }));
    let next = admit(&breaker);
    assert!(next.is_trial());
    refused(&breaker);
    next.succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_counts_for_nothing() {
    let breaker = breaker();
    fail(&breaker, 4);
    drop(admit(&breaker));
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 4 });
}

#[tokio::test(start_paused = true)]
async fn a_trial_longer_than_a_rest_lets_another_run_beside_it() {
    let (breaker, slow) = on_trial().await;
    advance(REST.saturating_sub(MOMENT)).await;
    refused(&breaker);
    advance(MOMENT).await;
    let second = admit(&breaker);
    refused(&breaker);
    second.failed(&"still down");
    assert!(matches!(breaker.state(), BreakerState::Open { .. }));
    slow.succeeded();
    assert!(matches!(breaker.state(), BreakerState::Open { .. }), "the slow trial's generation is over");
}

#[tokio::test(start_paused = true)]
async fn a_slow_trial_still_decides_in_its_generation() {
    let (breaker, slow) = on_trial().await;
    advance(REST * 3).await;
    slow.succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
}

#[tokio::test(start_paused = true)]
async fn an_outcome_from_before_the_opening_does_not_touch_an_open_breaker() {
    let breaker = breaker();
    let (success, failure) = (admit(&breaker), admit(&breaker));
    fail(&breaker, 5);
    let open = breaker.state();
    advance(Duration::from_secs(10)).await;
    success.succeeded();
    assert_eq!(breaker.state(), open);
    failure.failed(&"late");
    assert_eq!(breaker.state(), open);
    assert_eq!(&*refused(&breaker).last_error, "connection reset");
}

#[tokio::test(start_paused = true)]
async fn an_outcome_from_before_the_opening_does_not_decide_a_trial() {
    let breaker = breaker();
    let (success, failure, cancelled) = (admit(&breaker), admit(&breaker), admit(&breaker));
    fail(&breaker, 5);
    advance(REST).await;
    let trial = admit(&breaker);
    success.succeeded();
    assert!(matches!(breaker.state(), BreakerState::HalfOpen { .. }));
    failure.failed(&"late");
    assert!(matches!(breaker.state(), BreakerState::HalfOpen { .. }));
    drop(cancelled);
    refused(&breaker);
    trial.succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
}

#[tokio::test(start_paused = true)]
async fn an_outcome_from_before_the_opening_does_not_count_after_the_recovery() {
    let breaker = breaker();
    let failures: Vec<_> = (0..5).map(|_| admit(&breaker)).collect();
    let success = admit(&breaker);
    fail(&breaker, 5);
    advance(REST).await;
    admit(&breaker).succeeded();
    for late in failures {
        late.failed(&"late");
    }
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
    fail(&breaker, 3);
    success.succeeded();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 3 });
}

#[tokio::test(start_paused = true)]
async fn a_trial_of_an_earlier_half_open_time_frees_no_place_in_a_later_one() {
    let (breaker, slow) = on_trial().await;
    advance(REST).await;
    admit(&breaker).failed(&"still down");
    advance(REST).await;
    let _trial = admit(&breaker);
    drop(slow);
    refused(&breaker);
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_together_open_once() {
    let breaker = breaker();
    let calls: Vec<_> = (0..20).map(|_| admit(&breaker)).collect();
    for call in calls {
        call.failed(&"gone");
    }
    assert_eq!(breaker.counts(), BreakerCounts { opened: 1, ..BreakerCounts::default() });
    assert_eq!(refused(&breaker).failures, 5);
}

#[tokio::test(start_paused = true)]
async fn counts_every_transition_and_refusal() {
    let (breaker, trial) = on_trial().await;
    refused(&breaker);
    trial.failed(&"still down");
    refused(&breaker);
    advance(REST).await;
    admit(&breaker).succeeded();
    let expected = BreakerCounts { opened: 1, reopened: 1, half_opened: 2, closed: 1, refused: 2 };
    assert_eq!(breaker.counts(), expected);
}

#[tokio::test(start_paused = true)]
async fn watchers_see_every_transition_and_only_those() {
    let breaker = breaker();
    let mut states = breaker.watch();
    fail(&breaker, 4);
    assert!(!states.has_changed().unwrap());
    fail(&breaker, 1);
    assert!(matches!(*states.borrow_and_update(), BreakerState::Open { .. }));
    advance(REST).await;
    assert!(!states.has_changed().unwrap());
    let trial = admit(&breaker);
    assert!(matches!(*states.borrow_and_update(), BreakerState::HalfOpen { .. }));
    trial.succeeded();
    assert!(states.has_changed().unwrap());
    assert_eq!(*states.borrow_and_update(), BreakerState::Closed { failures: 0 });
}

#[tokio::test(start_paused = true)]
async fn a_failure_outside_of_calls_counts_and_ends_a_trial() {
    let breaker = breaker();
    fail(&breaker, 4);
    breaker.failed(&"exited");
    let open = breaker.state();
    assert!(matches!(open, BreakerState::Open { .. }));
    advance(MOMENT).await;
    breaker.failed(&"exited again");
    assert_eq!(breaker.state(), open, "it does not prolong the time");
    advance(REST).await;
    let trial = admit(&breaker);
    breaker.failed(&"exited");
    assert!(matches!(breaker.state(), BreakerState::Open { .. }));
    trial.succeeded();
    assert!(matches!(breaker.state(), BreakerState::Open { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_trial_can_be_allowed_early_and_failures_forgotten() {
    let breaker = opened();
    breaker.allow_trial();
    let trial = admit(&breaker);
    assert!(trial.is_trial());
    trial.failed(&"still down");
    refused(&breaker);
    breaker.reset();
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 0 });
    fail(&breaker, 4);
    breaker.reset();
    fail(&breaker, 4);
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 4 });
}

#[tokio::test(start_paused = true)]
async fn clones_share_their_state() {
    let breaker = breaker();
    fail(&breaker.clone(), 5);
    refused(&breaker);
}

#[tokio::test(start_paused = true)]
async fn a_long_error_is_cut_at_a_character() {
    let breaker = breaker();
    fail(&breaker, 4);
    admit(&breaker).failed(&format!("x{}", "é".repeat(1000)));
    let error = refused(&breaker).last_error;
    assert_eq!(error.len(), Refused::ERROR_LIMIT - 1);
    assert!(error.ends_with('é'));
}

#[test]
fn failures_from_many_threads_are_all_counted() {
    let options = BreakerOptions { failures: 1000, ..BreakerOptions::default() };
    let breaker = Breaker::new("files", options).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..249).for_each(|_| admit(&breaker).failed(&"gone")));
        }
    });
    assert_eq!(breaker.state(), BreakerState::Closed { failures: 996 });
    fail(&breaker, 4);
    assert!(matches!(breaker.state(), BreakerState::Open { .. }));
}

#[test]
fn settings_out_of_range_are_refused() {
    let refuse = |options| Breaker::new("files", options).unwrap_err().to_string();
    let usual = BreakerOptions::default();
    assert_eq!(
        refuse(BreakerOptions { failures: 0, ..usual }),
        "breaker failures is 0, but must lie between 1 and 1000"
    );
    assert_eq!(
        refuse(BreakerOptions { open_for: Duration::ZERO, ..usual }),
        "breaker open time is 0ns, but must lie between 1ms and 3600s"
    );
    assert_eq!(
        refuse(BreakerOptions { trials: 101, ..usual }),
        "breaker trials is 101, but must lie between 1 and 100"
    );
}
