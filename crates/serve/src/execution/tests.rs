//! Executions at a store that fails, and those that are tasks of a handler.

use super::*;
use crate::options::ServeOptions;
use futures_util::FutureExt;
use linked::LONGEST;
use queue::{Applicant, Priority};
use run::{Order, Questions};
use serde_json::{Value as Json, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use trunkline_protocol::{Handler, Reply, message::meta::CLIENT_CAPABILITIES, method};
use trunkline_store::{Event, Lazy, Pending, Place, Value};

/// A store in memory whose next writes of values or counters fail.
#[derive(Debug)]
struct Failing {
    inner: Lazy,
    puts: AtomicUsize,
    adds: AtomicUsize,
}

impl Failing {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: Lazy::new(Place::Memory),
            puts: AtomicUsize::new(0),
            adds: AtomicUsize::new(0),
        })
    }

    fn fails<'a, T: Send + 'a>(left: &AtomicUsize) -> Option<Pending<'a, T>> {
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(Box::pin(async { Err(StoreError::Unavailable("on purpose".to_owned())) }))
    }
}

impl Store for Failing {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Option<Value>> {
        self.inner.get(key)
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        bytes: Bytes,
        condition: Condition,
        lifetime: Option<Duration>,
    ) -> Pending<'a, Written> {
        Self::fails(&self.puts).unwrap_or_else(|| self.inner.put(key, bytes, condition, lifetime))
    }

    fn remove<'a>(&'a self, key: &'a str, condition: Condition) -> Pending<'a, Written> {
        self.inner.remove(key, condition)
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> Pending<'a, Vec<(String, Value)>> {
        self.inner.list(prefix, after, limit)
    }

    fn append<'a>(&'a self, log: &'a str, event: Bytes, retention: Retention) -> Pending<'a, u64> {
        self.inner.append(log, event, retention)
    }

    fn events<'a>(&'a self, log: &'a str, after: u64, limit: usize) -> Pending<'a, Vec<Event>> {
        self.inner.events(log, after, limit)
    }

    fn appended<'a>(&'a self, log: &'a str, after: u64) -> Pending<'a, ()> {
        self.inner.appended(log, after)
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn add<'a>(&'a self, counter: &'a str, by: i64, lifetime: Duration) -> Pending<'a, i64> {
        Self::fails(&self.adds).unwrap_or_else(|| self.inner.add(counter, by, lifetime))
    }
}

/// Has one task in this state. Calls of tools never end.
struct OneTask {
    task: Mutex<Json>,
    answerers: Mutex<Vec<String>>,
}

impl Handler for OneTask {
    fn call(&self, call: Call) -> Reply {
        match call.method.as_ref() {
            method::TASKS_GET => Reply::ready(Ok(self.task.lock().clone().into())),
            method::TOOLS_CALL => Reply::from_future(std::future::pending()),
            _ => {
                self.answerers.lock().extend(call.record.iter().flat_map(|record| record.answerers()));
                Reply::ready(Ok(Raw::empty_object()))
            }
        }
    }
}

struct Scene {
    store: Arc<Failing>,
    handler: Arc<OneTask>,
    service: Arc<Service>,
    ada: Arc<Caller>,
}

impl Scene {
    fn new(rest: RestLimits) -> Self {
        let store = Failing::new();
        let task = Mutex::new(json!({"taskId": "t", "status": "working"}));
        let handler = Arc::new(OneTask { task, answerers: Mutex::default() });
        let options = ServeOptions { rest, store: Some(store.clone()), ..ServeOptions::default() };
        let service = Service::new(handler.clone(), options);
        Self { store, handler, service, ada: Arc::new(Caller::named("ada")) }
    }

    fn executions(&self) -> &Arc<Executions> {
        &self.service.executions
    }

    fn call(&self, name: &'static str, task: &str) -> Call {
        let meta = json!({CLIENT_CAPABILITIES: {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
        let params = json!({"name": "tool", "taskId": task, "_meta": meta});
        Call { caller: self.ada.clone(), ..Call::new(name, Some(params.into())) }
    }

    /// The execution that is linked with the task.
    async fn linked(&self) -> Record {
        let room = self.executions().room(&self.ada).await.unwrap();
        let task = json!({"taskId": "t"}).into();
        let call = self.call(method::TOOLS_CALL, "");
        self.executions().link(&self.service, call, &task, room).await.unwrap();
        self.executions().of_task(&self.ada, "t").await.unwrap().unwrap()
    }

    fn becomes(&self, task: Json) {
        *self.handler.task.lock() = task;
    }

    fn completes(&self, text: &str) {
        self.becomes(json!({"taskId": "t", "status": "completed",
            "result": {"content": [{"type": "text", "text": text}]}}));
    }

    async fn begin(&self, caller: &str) -> Result<String, NotBegun> {
        let caller = Arc::new(Caller::named(caller));
        let id = Record::new_id(&Owner::of(&caller));
        let order = Order {
            tool: "tool".to_owned(),
            arguments: None,
            limit: Duration::from_mins(1),
            applicant: Applicant { id: id.clone(), caller: caller.id.clone(), priority: Priority::default() },
            questions: Questions::Ask,
        };
        let record = queued(&caller, &order, "");
        let run = Run::new(&self.service, caller, order);
        self.executions().begin(&self.service, run, record, None).await.map(|_| id)
    }
}

#[tokio::test]
async fn commands_are_kept_as_long_as_a_task_may_live() {
    let scene = Scene::new(RestLimits { retention: Duration::from_secs(1), ..RestLimits::default() });
    let record = scene.linked().await;
    let kept = scene.executions().commands_kept(&record).lifetime;
    assert!(kept + Duration::from_mins(1) > LONGEST, "{kept:?}");
}

#[tokio::test]
async fn a_failing_store_is_not_taken_for_a_full_quota() {
    let scene = Scene::new(RestLimits { kept_bytes: 100_000, ..RestLimits::default() });
    let mut allowance = Allowance::new(&scene.executions().quota, "ada".to_owned()).await.unwrap();
    scene.store.adds.store(1, Ordering::Relaxed);
    assert!(allowance.covers(50_000).await);
    assert!(!allowance.covers(200_000).await);
}

#[tokio::test]
async fn the_end_of_a_task_waits_for_the_store() {
    let scene = Scene::new(RestLimits::default());
    let record = scene.linked().await;
    scene.completes("done");
    scene.store.puts.store(1, Ordering::Relaxed);
    let ended = scene.executions().wait(&record.id, Duration::from_secs(20), |it| it.state.is_final()).await;
    assert_eq!(ended.unwrap().unwrap().state, State::Done);
    assert_eq!(scene.store.puts.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn l07_a_task_whose_result_is_too_large_ends() {
    let scene = Scene::new(RestLimits::default());
    let record = scene.linked().await;
    scene.completes(&"x".repeat(trunkline_store::MAX_VALUE));
    scene.executions().look(&record).await.unwrap();
    let ended = scene.executions().wait(&record.id, Duration::from_mins(1), |it| it.state.is_final()).await;
    let ended = ended.unwrap().unwrap();
    assert_eq!(ended.state, State::Failed);
    let fault = scene.executions().end(&ended).await.unwrap().outcome().unwrap_err();
    assert!(fault.message().contains("has run") && !fault.retryable(), "{fault}");
}

#[tokio::test]
async fn a_state_that_was_not_stored_is_stored_by_the_next_look() {
    let scene = Scene::new(RestLimits::default());
    let record = scene.linked().await;
    scene.becomes(json!({"taskId": "t", "status": "input_required", "inputRequests": {
        "q": {"method": "elicitation/create", "params": {"message": "?"}}}}));
    scene.store.puts.store(1, Ordering::Relaxed);
    let seen = scene.executions().looked_at(record).await.unwrap();
    assert_eq!(seen.state, State::Running);
    let seen = scene.executions().looked_at(seen).await.unwrap();
    assert_eq!((seen.state, seen.questions.len()), (State::Waiting, 1));
}

#[tokio::test]
async fn h1_a_linked_task_under_the_id_of_its_execution_is_current() {
    let scene = Scene::new(RestLimits::default());
    let record = scene.linked().await;
    scene.completes("done");
    let task = scene.service.call(scene.call(method::TASKS_GET, &record.id)).outcome().await.unwrap();
    assert_eq!(task.member_as::<String>("status").as_deref(), Some("completed"), "{}", task.as_str());
}

#[tokio::test]
async fn l04_a_task_that_its_client_saw_end_frees_its_slot() {
    let scene = Scene::new(RestLimits::default());
    let record = scene.linked().await;
    scene.completes("done");
    scene.service.call(scene.call(method::TASKS_GET, "t")).outcome().await.unwrap();
    let log = event_log(&record.id);
    let ended = tokio::time::timeout(Duration::from_secs(10), scene.store.appended(&log, 0)).await;
    ended.expect("the link has looked").unwrap();
}

#[tokio::test]
async fn h1_a_link_outlives_the_request_that_made_it() {
    let scene = Scene::new(RestLimits::default());
    let room = scene.executions().room(&scene.ada).await.unwrap();
    let task = json!({"taskId": "t"}).into();
    let call = scene.call(method::TOOLS_CALL, "");
    // Polled once, then dropped.
    assert!(scene.executions().link(&scene.service, call, &task, room).now_or_never().is_none());
    let stored = async {
        while scene.executions().of_task(&scene.ada, "t").await.unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), stored).await.expect("the task is linked");
}

#[tokio::test]
async fn l04_a_caller_over_its_quota_displaces_nobody() {
    let limits = RestLimits { running: 1, waiting: 2, kept_bytes: 64 << 10, ..RestLimits::default() };
    let scene = Scene::new(limits);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(scene.begin("hog").await.unwrap());
    }
    scene.executions().quota.count(&Owner::of(&scene.ada).digits(), 64 << 10).await.unwrap();
    assert!(matches!(scene.begin("ada").await, Err(NotBegun::Refused(_))));
    assert_eq!(scene.service.queues.position(&ids[2]), Some(2));
    // One that finds no place is not counted.
    let hog = Owner::Caller("hog".to_owned()).digits();
    let before = scene.executions().quota.count(&hog, 0).await.is_ok();
    for _ in 0..20 {
        assert!(matches!(scene.begin("hog").await, Err(NotBegun::Refused(full)) if full.retryable()));
    }
    assert!(before && scene.executions().quota.count(&hog, 16 << 10).await.is_ok());
}

#[tokio::test]
async fn the_caller_that_answers_a_task_is_named_to_the_audit_trail() {
    let scene = Scene::new(RestLimits::default());
    let record = scene.linked().await;
    let (question, answer, by) = ("q".to_owned(), Raw::empty_object(), "eve".to_owned());
    scene.executions().command(&record, &Command::Answer { question, answer, by }).await.unwrap();
    scene.executions().looked_at(record).await.unwrap();
    assert_eq!(*scene.handler.answerers.lock(), ["eve"]);
}
