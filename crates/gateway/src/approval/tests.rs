//! Questions to operators that nobody waits for, and callers that flood them.

use super::*;
use crate::policy::Consent;
use trunkline_protocol::{Caller, method};
use trunkline_store::Embedded;

fn approvals() -> Approvals {
    Approvals::new(ApprovalOptions {
        store: Arc::new(Embedded::in_memory().unwrap()),
        timeout: Duration::from_mins(10),
        most: 8,
        reachable: true,
        alone: true,
    })
}

fn call(caller: &str) -> Call {
    let params = serde_json::json!({"name": "shop_refund", "arguments": {}});
    let mut call = Call::new(method::TOOLS_CALL, Some(params.into()));
    call.caller = Arc::new(Caller { id: caller.to_owned(), ..Caller::clone(&Caller::local()) });
    call
}

fn asked() -> Asked {
    Asked {
        server: "shop".to_owned(),
        subject: "shop_refund".to_owned(),
        rule: "rule 1".to_owned(),
        reason: None,
        consent: Consent::Operator,
    }
}

fn agreement(scope: Scope) -> Decision {
    Decision { agrees: true, scope, note: None }
}

/// Waits until all questions that were dropped are withdrawn.
async fn settled(approvals: &Approvals) -> Vec<Approval> {
    loop {
        let all = approvals.list().await.unwrap();
        if all.iter().all(|one| one.state != ApprovalState::Pending) {
            return all;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn l05_questions_that_were_withdrawn_do_not_fill_the_store() {
    let approvals = approvals();
    for _ in 0..MAX_UNDECIDED + 50 {
        drop(approvals.open(&call("key:hog"), &asked()).await.unwrap());
    }
    settled(&approvals).await;
    let bounded = async {
        while kept(&approvals).await > MAX_UNDECIDED {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), bounded).await.unwrap();
}

/// The number of records in the store.
async fn kept(approvals: &Approvals) -> usize {
    let (mut count, mut after) = (0, String::new());
    loop {
        let page = approvals.0.options.store.list(RECORDS, &after, PAGE).await.unwrap();
        let Some((last, _)) = page.last() else { return count };
        after.clone_from(last);
        count += page.len();
    }
}

#[tokio::test]
async fn s07_a_caller_that_hangs_up_at_once_leaves_nothing_pending() {
    let approvals = approvals();
    let (call, asked) = (call("key:ada"), asked());
    for polls in 0..8 {
        let mut opening = Box::pin(approvals.open(&call, &asked));
        for _ in 0..polls {
            if futures_util::future::poll_immediate(&mut opening).await.is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    tokio::time::timeout(Duration::from_secs(5), settled(&approvals)).await.unwrap();
}

#[tokio::test]
async fn a15_an_id_that_looks_like_another_is_another_caller() {
    let approvals = approvals();
    // Shown on a terminal, both are the same.
    let (odd, plain) = ("jwt:https://i#ada  x", "jwt:https://i#ada x");
    let question = approvals.open(&call(odd), &asked()).await.unwrap();
    let decide = async |who: &str| {
        let hour = Scope::Caller(Duration::from_hours(1));
        approvals.decide(question.id(), who, false, &agreement(hour)).await
    };
    assert!(matches!(decide(odd).await, Err(NotDecided::OwnCall)));
    decide("key:operator").await.unwrap();
    assert!(approvals.is_granted(&call(odd), &asked()).await);
    assert!(!approvals.is_granted(&call(plain), &asked()).await);
}
