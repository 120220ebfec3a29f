use std::{
    future::{Future, pending, poll_fn, ready},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, advance, timeout},
};

use super::{
    CacheCounts, CacheOptions, Fetched, Freshness, ListCache, ListKey, Listed, Scope, Source, Stale,
};

type Cache = ListCache<u32, &'static str>;
type Outcome = Result<Fetched<u32>, &'static str>;
type Answer = Result<(u32, Source), &'static str>;

const TTL: Duration = Duration::from_mins(5);
const MOMENT: Duration = Duration::from_millis(1);
const TOOLS: ListKey = ListKey::Tools;

fn cache() -> Cache {
    ListCache::new(CacheOptions::default()).unwrap()
}

fn lenient(for_up_to: Duration) -> Cache {
    let options = CacheOptions { stale: Stale::OnError { for_up_to }, ..CacheOptions::default() };
    ListCache::new(options).unwrap()
}

/// Looks up the tools, with a fetch that returns `outcome` at once.
async fn ask(cache: &Cache, outcome: Outcome) -> Answer {
    cache.get_or_fetch(&TOOLS, || ready(outcome)).await.map(seen)
}

/// Looks up the tools, with a fetch that returns what the sender sends.
fn ask_later(cache: &Cache) -> (oneshot::Sender<Outcome>, Pin<Box<impl Future<Output = Answer>>>) {
    let (answer, fetch) = oneshot::channel();
    let fetch = async { fetch.await.expect("the test answers") };
    (answer, Box::pin(async { cache.get_or_fetch(&TOOLS, || fetch).await.map(seen) }))
}

/// Polls a caller once and checks that it is pending.
async fn waits<F: Future>(caller: &mut Pin<Box<F>>) {
    let polled = poll_fn(|cx| Poll::Ready(caller.as_mut().poll(cx))).await;
    assert!(polled.is_pending(), "the caller should wait");
}

/// Runs a caller to its end. Time is paused, so one that never ends fails immediately.
async fn ends<F: Future>(caller: Pin<Box<F>>) -> F::Output {
    timeout(Duration::from_secs(1), caller).await.expect("the caller should get its answer")
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where a fetch may also fail")]
fn plain(value: u32) -> Outcome {
    Ok(Fetched::unhinted(value))
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where a fetch may also fail")]
fn hinted(value: u32, ttl_ms: Option<i64>) -> Outcome {
    Ok(Fetched::hinted(value, ttl_ms, Scope::Public))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands at the end of a chain of values")]
fn seen(listed: Listed<u32>) -> (u32, Source) {
    (*listed.value, listed.source)
}

#[tokio::test(start_paused = true)]
async fn a_list_is_fetched_once_and_kept_for_its_time() {
    let cache = cache();
    assert!(cache.get(&TOOLS).is_none());
    assert_eq!(ask(&cache, plain(1)).await, Ok((1, Source::Fetched)));
    advance(TTL.saturating_sub(MOMENT)).await;
    assert_eq!(ask(&cache, plain(2)).await, Ok((1, Source::Cached)));
    assert_eq!(cache.get(&TOOLS).map(seen), Some((1, Source::Cached)));
    advance(MOMENT).await;
    assert!(cache.get(&TOOLS).is_none());
    assert_eq!(ask(&cache, plain(3)).await, Ok((3, Source::Fetched)));
    assert_eq!(cache.counts(), CacheCounts { hits: 2, fetches: 2, ..CacheCounts::default() });
}

#[tokio::test(start_paused = true)]
async fn each_list_has_its_own_place() {
    let cache = cache();
    ask(&cache, plain(1)).await.unwrap();
    let prompts = cache.get_or_fetch(&ListKey::Prompts, || ready(plain(2))).await.unwrap();
    assert_eq!((*prompts.value, prompts.source), (2, Source::Fetched));
    cache.invalidate(&ListKey::Prompts);
    assert!(cache.get(&ListKey::Prompts).is_none());
    assert!(cache.get(&TOOLS).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hint_overrides_the_own_time_both_ways() {
    for millis in [1_000, 3_600_000] {
        let cache = cache();
        ask(&cache, hinted(1, Some(millis))).await.unwrap();
        let hint = Duration::from_millis(millis.unsigned_abs());
        advance(hint.saturating_sub(MOMENT)).await;
        assert_eq!(ask(&cache, plain(2)).await, Ok((1, Source::Cached)));
        advance(MOMENT).await;
        assert_eq!(ask(&cache, plain(3)).await, Ok((3, Source::Fetched)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_of_zero_less_or_nothing_is_stale_at_once() {
    for ttl_ms in [Some(0), Some(-1), Some(i64::MIN), None] {
        let cache = cache();
        ask(&cache, hinted(1, ttl_ms)).await.unwrap();
        assert_eq!(ask(&cache, hinted(2, ttl_ms)).await, Ok((2, Source::Fetched)), "{ttl_ms:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_absurd_hint_is_cut() {
    let cache = cache();
    ask(&cache, hinted(1, Some(i64::MAX))).await.unwrap();
    let listed = cache.get(&TOOLS).unwrap();
    assert_eq!(listed.fresh_until - listed.fetched_at, Duration::from_hours(24));
    assert_eq!(Freshness::from_ttl_ms(Some(1)), Freshness::Hinted(MOMENT));
}

#[tokio::test(start_paused = true)]
async fn the_time_counts_from_the_answer() {
    let cache = cache();
    let (answer, mut caller) = ask_later(&cache);
    waits(&mut caller).await;
    advance(TTL).await;
    answer.send(plain(1)).unwrap();
    ends(caller).await.unwrap();
    let listed = cache.get(&TOOLS).expect("fresh");
    assert_eq!((listed.fetched_at, listed.fresh_until), (Instant::now(), Instant::now() + TTL));
}

#[tokio::test(start_paused = true)]
async fn the_scope_is_carried_along() {
    let cache = cache();
    ask(&cache, hinted(1, Some(1000))).await.unwrap();
    assert_eq!(cache.get(&TOOLS).unwrap().scope, Scope::Public);
    cache.invalidate(&TOOLS);
    ask(&cache, plain(2)).await.unwrap();
    assert_eq!(cache.get(&TOOLS).unwrap().scope, Scope::Private);
}

#[tokio::test(start_paused = true)]
async fn an_own_time_of_zero_keeps_nothing_fresh() {
    let cache = ListCache::new(CacheOptions { ttl: Duration::ZERO, ..CacheOptions::default() }).unwrap();
    ask(&cache, plain(1)).await.unwrap();
    assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_is_fetched_anew() {
    let cache = cache();
    ask(&cache, plain(1)).await.unwrap();
    cache.invalidate(&TOOLS);
    assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
    cache.invalidate_all();
    assert!(cache.is_empty());
    assert_eq!(ask(&cache, plain(3)).await, Ok((3, Source::Fetched)));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_was_under_way_when_the_list_changed_is_used_but_not_kept() {
    let cache = cache();
    let (answer, mut first) = ask_later(&cache);
    let (_unused, mut second) = ask_later(&cache);
    waits(&mut first).await;
    waits(&mut second).await;
    cache.invalidate(&TOOLS);
    answer.send(plain(1)).unwrap();
    assert_eq!(ends(first).await, Ok((1, Source::Fetched)));
    assert_eq!(ends(second).await, Ok((1, Source::Fetched)));
    assert!(cache.get(&TOOLS).is_none());
    assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
    assert_eq!(cache.counts(), CacheCounts { fetches: 2, invalidated: 1, ..CacheCounts::default() });
}

#[tokio::test(start_paused = true)]
async fn who_asks_after_the_change_does_not_join_the_fetch_from_before() {
    let cache = cache();
    let (old_answer, mut old) = ask_later(&cache);
    waits(&mut old).await;
    cache.invalidate(&TOOLS);
    let (new_answer, mut new) = ask_later(&cache);
    waits(&mut new).await;
    old_answer.send(plain(1)).unwrap();
    assert_eq!(ends(old).await, Ok((1, Source::Fetched)));
    waits(&mut new).await;
    new_answer.send(plain(2)).unwrap();
    assert_eq!(ends(new).await, Ok((2, Source::Fetched)));
    assert_eq!(cache.get(&TOOLS).map(seen), Some((2, Source::Cached)));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_from_before_the_change_does_not_overwrite_a_later_one() {
    let cache = cache();
    for late in [plain(1), Err("down")] {
        let (old_answer, mut old) = ask_later(&cache);
        waits(&mut old).await;
        cache.invalidate(&TOOLS);
        assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
        let expected = late.clone().map(|fetched| (fetched.value, Source::Fetched));
        old_answer.send(late).unwrap();
        assert_eq!(ends(old).await, expected);
        assert_eq!(cache.get(&TOOLS).map(seen), Some((2, Source::Cached)));
        cache.invalidate(&TOOLS);
    }
}

#[tokio::test(start_paused = true)]
async fn many_callers_share_one_fetch() {
    let cache = cache();
    let (answer, mut leader) = ask_later(&cache);
    waits(&mut leader).await;
    let mut others: Vec<_> = (0..50).map(|_| ask_later(&cache)).collect();
    for (_, other) in &mut others {
        waits(other).await;
    }
    answer.send(plain(1)).unwrap();
    assert_eq!(ends(leader).await, Ok((1, Source::Fetched)));
    for (_, other) in others {
        assert_eq!(ends(other).await, Ok((1, Source::Fetched)));
    }
    assert_eq!(cache.counts().fetches, 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_shared_by_those_who_waited_and_not_kept() {
    let cache = cache();
    let (answer, mut first) = ask_later(&cache);
    let (_unused, mut second) = ask_later(&cache);
    waits(&mut first).await;
    waits(&mut second).await;
    answer.send(Err("down")).unwrap();
    assert_eq!(ends(first).await, Err("down"));
    assert_eq!(ends(second).await, Err("down"));
    assert_eq!(cache.counts(), CacheCounts { fetches: 1, failures: 1, ..CacheCounts::default() });
    assert!(cache.is_empty());
    assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_caller_hands_over_to_one_who_waits() {
    let cache = cache();
    let (_never, mut leader) = ask_later(&cache);
    let (answer, mut heir) = ask_later(&cache);
    let (_unused, mut third) = ask_later(&cache);
    waits(&mut leader).await;
    waits(&mut heir).await;
    waits(&mut third).await;
    drop(leader);
    waits(&mut heir).await;
    waits(&mut third).await;
    answer.send(plain(2)).unwrap();
    assert_eq!(ends(heir).await, Ok((2, Source::Fetched)));
    assert_eq!(ends(third).await, Ok((2, Source::Fetched)));
    assert_eq!(cache.counts().fetches, 2);
    assert_eq!(cache.get(&TOOLS).map(seen), Some((2, Source::Cached)));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_all_left_is_taken_up_by_the_next() {
    let cache = cache();
    let (_never, mut leader) = ask_later(&cache);
    waits(&mut leader).await;
    drop(leader);
    assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
    assert_eq!(cache.get(&TOOLS).map(seen), Some((2, Source::Cached)));
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_does_not_stand_in_unless_chosen() {
    let cache = cache();
    ask(&cache, plain(1)).await.unwrap();
    advance(TTL).await;
    assert_eq!(ask(&cache, Err("down")).await, Err("down"));
    assert!(cache.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_stands_in_for_a_failure_for_a_while() {
    let cache = lenient(Duration::from_mins(1));
    ask(&cache, plain(1)).await.unwrap();
    advance(TTL).await;
    assert_eq!(ask(&cache, Err("down")).await, Ok((1, Source::Stale)));
    advance(Duration::from_mins(1)).await;
    assert_eq!(ask(&cache, Err("down")).await, Ok((1, Source::Stale)));
    assert_eq!(cache.counts(), CacheCounts { fetches: 3, failures: 2, stale: 2, ..CacheCounts::default() });
    advance(MOMENT).await;
    assert_eq!(ask(&cache, Err("down")).await, Err("down"));
    assert_eq!(ask(&cache, plain(2)).await, Ok((2, Source::Fetched)));
}

#[tokio::test(start_paused = true)]
async fn a_list_stale_from_the_start_can_stand_in_too() {
    let cache = lenient(Duration::from_mins(1));
    ask(&cache, hinted(1, Some(0))).await.unwrap();
    assert_eq!(ask(&cache, Err("down")).await, Ok((1, Source::Stale)));
    assert_eq!(ask(&cache, hinted(2, Some(0))).await, Ok((2, Source::Fetched)));
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_never_stands_in() {
    let cache = lenient(Duration::from_mins(1));
    ask(&cache, plain(1)).await.unwrap();
    cache.invalidate(&TOOLS);
    assert_eq!(ask(&cache, Err("down")).await, Err("down"));

    ask(&cache, hinted(2, Some(0))).await.unwrap();
    let (answer, mut caller) = ask_later(&cache);
    waits(&mut caller).await;
    cache.invalidate(&TOOLS);
    answer.send(Err("down")).unwrap();
    assert_eq!(ends(caller).await, Err("down"));
}

/// A cache of two lists, by page.
fn small() -> ListCache<u32, &'static str, u32> {
    ListCache::new(CacheOptions { entries: 2, ..CacheOptions::default() }).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_list_that_goes_stale_first_makes_room() {
    let cache = small();
    for (page, ttl_ms) in [(1, 9_000), (2, 5_000), (3, 7_000)] {
        cache.get_or_fetch(&page, || ready(hinted(page, Some(ttl_ms)))).await.unwrap();
    }
    let kept: Vec<_> = (1..=3).filter(|page| cache.get(page).is_some()).collect();
    assert_eq!((kept, cache.len()), (vec![1, 3], 2));
}

#[tokio::test(start_paused = true)]
async fn a_list_being_fetched_makes_room_last_and_one_that_all_left_first() {
    let cache = small();
    let mut flying = Box::pin(cache.get_or_fetch(&1, pending::<Outcome>));
    waits(&mut flying).await;
    cache.get_or_fetch(&2, || ready(plain(2))).await.unwrap();
    cache.get_or_fetch(&3, || ready(plain(3))).await.unwrap();
    assert!(cache.get(&2).is_none());
    drop(flying);
    cache.get_or_fetch(&4, || ready(plain(4))).await.unwrap();
    assert!(cache.get(&3).is_some() && cache.get(&4).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_fetch_whose_place_was_taken_still_answers_its_caller() {
    let cache = small();
    let (answer, fetch) = oneshot::channel::<Outcome>();
    let mut first = Box::pin(cache.get_or_fetch(&1, || async { fetch.await.unwrap() }));
    waits(&mut first).await;
    let mut others: Vec<_> =
        (2..5).map(|page| Box::pin(cache.get_or_fetch(page_ref(page), pending::<Outcome>))).collect();
    for other in &mut others {
        waits(other).await;
        assert!(cache.len() <= 2);
    }
    answer.send(plain(1)).unwrap();
    assert_eq!(seen(ends(first).await.unwrap()).0, 1);
    assert!(cache.len() <= 2);
}

fn page_ref(page: usize) -> &'static u32 {
    &[0, 1, 2, 3, 4][page]
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_are_forgotten_together() {
    let cache: ListCache<u32, &'static str, (ListKey, u32)> =
        ListCache::new(CacheOptions::default()).unwrap();
    for key in [(TOOLS, 1), (TOOLS, 2), (ListKey::Prompts, 1)] {
        cache.get_or_fetch(&key, || ready(plain(key.1))).await.unwrap();
    }
    cache.invalidate_where(|(list, _)| *list == TOOLS);
    assert_eq!(cache.len(), 1);
    assert!(cache.get(&(ListKey::Prompts, 1)).is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_on_many_threads_share_one_fetch() {
    let cache = std::sync::Arc::new(cache());
    let (answer, fetch) = oneshot::channel::<Outcome>();
    let fetch = std::sync::Arc::new(std::sync::Mutex::new(Some(fetch)));
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let (cache, fetch) = (std::sync::Arc::clone(&cache), std::sync::Arc::clone(&fetch));
            tokio::spawn(async move {
                let once = || {
                    let fetch = fetch.lock().unwrap().take().expect("only one caller fetches");
                    async { fetch.await.unwrap() }
                };
                cache.get_or_fetch(&TOOLS, once).await.map(|listed| *listed.value)
            })
        })
        .collect();
    answer.send(plain(1)).unwrap();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Ok(1));
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let refuse = |options| Cache::new(options).unwrap_err().to_string();
    let usual = CacheOptions::default();
    let day = Duration::from_hours(24);
    assert_eq!(
        refuse(CacheOptions { ttl: day + Duration::from_secs(1), ..usual }),
        "cache time is 86401s, but must lie between 0ns and 86400s"
    );
    assert_eq!(
        refuse(CacheOptions { entries: 0, ..usual }),
        "cache entries is 0, but must lie between 1 and 10000"
    );
    let stale = Stale::OnError { for_up_to: day * 2 };
    assert_eq!(
        refuse(CacheOptions { stale, ..usual }),
        "cache stale time is 172800s, but must lie between 0ns and 86400s"
    );
}
