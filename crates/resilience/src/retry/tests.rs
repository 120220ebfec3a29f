use std::{cell::RefCell, time::Duration};

use tokio::time::{Instant, sleep};

use super::{Jitter, Retry, RetryOptions, Safety, Verdict};

const SECOND: Duration = Duration::from_secs(1);

/// The start time of each attempt of a run, and the result.
#[derive(Debug)]
struct Run {
    begun: Vec<Duration>,
    result: Result<u32, u32>,
}

/// Runs a call whose first attempts fail with the given verdicts and whose next one succeeds. The
/// error and the value are the attempt's number.
async fn run(retry: &Retry, safety: Safety, verdicts: &[Verdict]) -> Run {
    let start = Instant::now();
    let begun = RefCell::new(Vec::new());
    let result = retry
        .run(
            safety,
            |number: &u32| verdicts[*number as usize - 1],
            |number| {
                begun.borrow_mut().push(start.elapsed());
                let failing = number as usize <= verdicts.len();
                async move { if failing { Err(number) } else { Ok(number) } }
            },
        )
        .await;
    Run { begun: begun.into_inner(), result }
}

fn options() -> RetryOptions {
    RetryOptions {
        base: SECOND,
        factor: 2,
        ceiling: SECOND * 8,
        budget: SECOND * 600,
        attempts: 4,
        jitter: Jitter::Equal,
    }
}

fn retry(options: RetryOptions) -> Retry {
    Retry::seeded(options, 42).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_success_is_not_repeated() {
    let run = run(&retry(options()), Safety::Repeatable, &[]).await;
    assert_eq!((run.result, run.begun), (Ok(1), vec![Duration::ZERO]));
}

#[tokio::test(start_paused = true)]
async fn repeats_until_success_with_growing_pauses() {
    let run = run(&retry(options()), Safety::Repeatable, &[Verdict::Retry; 3]).await;
    assert_eq!(run.result, Ok(4));
    for (failures, pair) in run.begun.windows(2).enumerate() {
        let whole = SECOND * (1 << failures);
        let pause = pair[1].saturating_sub(pair[0]);
        // Paused time moves in whole milliseconds.
        assert!(whole / 2 <= pause && pause <= whole + Duration::from_millis(1), "{pause:?} of {whole:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn gives_up_after_the_last_attempt_with_its_error() {
    let run = run(&retry(options()), Safety::Repeatable, &[Verdict::Retry; 9]).await;
    assert_eq!((run.result, run.begun.len()), (Err(4), 4));
}

#[tokio::test(start_paused = true)]
async fn a_single_attempt_is_never_repeated() {
    let retry = retry(RetryOptions { attempts: 1, ..options() });
    let run = run(&retry, Safety::Repeatable, &[Verdict::Retry]).await;
    assert_eq!((run.result, run.begun.len()), (Err(1), 1));
}

#[tokio::test(start_paused = true)]
async fn gives_up_when_the_error_says_so() {
    let run = run(&retry(options()), Safety::Repeatable, &[Verdict::Retry, Verdict::GiveUp]).await;
    assert_eq!((run.result, run.begun.len()), (Err(2), 2));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_must_not_happen_twice_is_not_repeated() {
    for verdict in [Verdict::Retry, Verdict::RetryAfter(SECOND)] {
        let run = run(&retry(options()), Safety::AtMostOnce, &[verdict]).await;
        assert_eq!((run.result, run.begun.len()), (Err(1), 1), "{verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_began_is_repeated_whatever_it_does() {
    let verdicts = [Verdict::Unstarted { after: None }, Verdict::Unstarted { after: Some(SECOND * 20) }];
    for safety in [Safety::AtMostOnce, Safety::Repeatable] {
        let run = run(&retry(options()), safety, &verdicts).await;
        assert_eq!(run.result, Ok(3));
        assert!(run.begun[2].saturating_sub(run.begun[1]) >= SECOND * 20);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_began_at_the_second_attempt_is_not_repeated_further() {
    let verdicts = [Verdict::Unstarted { after: None }, Verdict::Retry];
    let run = run(&retry(options()), Safety::AtMostOnce, &verdicts).await;
    assert_eq!((run.result, run.begun.len()), (Err(2), 2));
}

#[tokio::test(start_paused = true)]
async fn waits_at_least_as_long_as_the_server_asks() {
    let run = run(&retry(options()), Safety::Repeatable, &[Verdict::RetryAfter(SECOND * 60)]).await;
    assert_eq!(run.result, Ok(2));
    assert!(run.begun[1] >= SECOND * 60 && run.begun[1] <= SECOND * 62, "{:?}", run.begun);
}

#[tokio::test(start_paused = true)]
async fn gives_up_at_once_when_the_server_asks_for_more_than_the_budget() {
    for after in [SECOND * 600, Duration::MAX] {
        let start = Instant::now();
        let run = run(&retry(options()), Safety::Repeatable, &[Verdict::RetryAfter(after)]).await;
        assert_eq!((run.result, run.begun.len()), (Err(1), 1));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_attempts_counts_against_the_budget() {
    let retry = retry(RetryOptions { budget: SECOND * 10, ..options() });
    let mut attempts = 0;
    let result: Result<(), _> = retry
        .run(
            Safety::Repeatable,
            |_: &&str| Verdict::Retry,
            |number| {
                attempts = number;
                async {
                    sleep(SECOND * 6).await;
                    Err("slow")
                }
            },
        )
        .await;
    assert_eq!((result, attempts), (Err("slow"), 2));
}

#[tokio::test(start_paused = true)]
async fn an_empty_budget_allows_the_first_attempt_only() {
    let retry = retry(RetryOptions { budget: Duration::ZERO, ..options() });
    let run = run(&retry, Safety::Repeatable, &[Verdict::Retry]).await;
    assert_eq!((run.result, run.begun.len()), (Err(1), 1));
}

#[test]
fn equal_jitter_keeps_half_the_pause() {
    let retry = retry(options());
    for _ in 0..200 {
        let pause = retry.backoff(2);
        assert!(SECOND <= pause && pause <= SECOND * 2, "{pause:?}");
    }
}

#[test]
fn full_jitter_uses_the_whole_span() {
    let retry = retry(RetryOptions { jitter: Jitter::Full, ..options() });
    let pauses: Vec<_> = (0..200).map(|_| retry.backoff(1)).collect();
    assert!(pauses.iter().all(|pause| *pause <= SECOND));
    assert!(pauses.iter().any(|pause| *pause < SECOND / 10));
    assert!(pauses.iter().any(|pause| *pause > SECOND * 9 / 10));
}

#[test]
fn pauses_stop_growing_at_the_ceiling() {
    let retry = retry(options());
    for failures in [4, 5, 32, 33, 34, 1000, u32::MAX] {
        let pause = retry.backoff(failures);
        assert!(SECOND * 4 <= pause && pause <= SECOND * 8, "{pause:?} after {failures}");
    }
}

#[test]
fn the_same_seed_gives_the_same_pauses() {
    let pauses = |seed| {
        let retry = Retry::seeded(options(), seed).unwrap();
        (1..6).map(|failures| retry.backoff(failures)).collect::<Vec<_>>()
    };
    assert_eq!(pauses(1), pauses(1));
    assert_ne!(pauses(1), pauses(2));
}

#[test]
fn settings_out_of_range_are_refused() {
    let refuse = |options| Retry::new(options).unwrap_err().to_string();
    assert_eq!(
        refuse(RetryOptions { attempts: 0, ..options() }),
        "retry attempts is 0, but must lie between 1 and 20"
    );
    assert_eq!(
        refuse(RetryOptions { base: Duration::ZERO, ..options() }),
        "retry base pause is 0ns, but must lie between 1ms and 60s"
    );
    assert_eq!(
        refuse(RetryOptions { ceiling: Duration::from_millis(999), ..options() }),
        "retry longest pause is 999ms, but must lie between 1s and 600s"
    );
    assert_eq!(
        refuse(RetryOptions { budget: SECOND * 3601, ..options() }),
        "retry budget is 3601s, but must lie between 0ns and 3600s"
    );
    Retry::new(RetryOptions::default()).expect("the defaults are within bounds");
}

#[test]
fn pauses_grow_by_the_factor() {
    for (factor, wholes) in
        [(1, [1, 1, 1, 1]), (2, [1, 2, 4, 8]), (3, [1, 3, 9, 27]), (10, [1, 10, 100, 300])]
    {
        let retry = retry(RetryOptions { factor, ceiling: SECOND * 300, ..options() });
        for (failures, whole) in (1..).zip(wholes) {
            let (whole, pause) = (SECOND * whole, retry.backoff(failures));
            assert!((whole / 2..=whole).contains(&pause), "factor {factor}, {failures} failures: {pause:?}");
        }
        assert!(retry.backoff(u32::MAX) <= SECOND * 300);
    }
    assert!(Retry::new(RetryOptions { factor: 0, ..options() }).is_err());
    assert!(Retry::new(RetryOptions { factor: 11, ..options() }).is_err());
}
