//! A fake server with configurable behaviour, which counts connections and calls.

use super::super::*;
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Notify as Signal, Semaphore, watch};
use trunkline_protocol::{
    Call, Caller, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Notify, Outcome, Part,
    Profile, Question, Raw, Reply, Revision, Session, message::meta,
};

/// The outcome of the next connection.
pub(super) enum ConnectOutcome {
    Open,
    Missing,
    Hangs,
}

/// The reaction to a liveness check.
#[derive(Clone, Copy)]
pub(super) enum Life {
    Given,
    Refused,
    Silent,
}

/// The fake server; all of its sessions share it.
pub(super) struct Fake {
    pub(super) revision: Revision,
    pub(super) connects: Mutex<VecDeque<ConnectOutcome>>,
    pub(super) always: Mutex<Option<FaultKind>>,
    pub(super) profiles: Mutex<Vec<Profile>>,
    pub(super) sessions: Mutex<Vec<Arc<FakeSession>>>,
    pub(super) tools: Mutex<Vec<Value>>,
    pub(super) capabilities: Mutex<Value>,
    pub(super) meta: Mutex<Value>,
    pub(super) pages: AtomicUsize,
    pub(super) lists_read: AtomicUsize,
    pub(super) list_fails: AtomicBool,
    pub(super) sign_of_life: Mutex<Life>,
    /// Opened for calls of the tool `gate`.
    pub(super) gate: Signal,
    pub(super) ttl: Mutex<Option<u64>>,
    turns: Semaphore,
    /// Calls of the tool `too-often-at-first`.
    refusals: AtomicUsize,
}

pub(super) struct FakeSession {
    fake: Arc<Fake>,
    pub(super) number: usize,
    pub(super) profile: Profile,
    lost: watch::Sender<Option<Fault>>,
    pub(super) closed: AtomicBool,
    listener: Mutex<Option<Listener>>,
    pub(super) notifications: Mutex<Vec<String>>,
    pub(super) calls: AtomicUsize,
}

type Listener = Box<dyn Fn(Notification) + Send + Sync>;

/// The [`Connect`] of the fake.
pub(super) struct FakeConnect(pub(super) Arc<Fake>);

impl Fake {
    pub(super) fn new(revision: Revision) -> Arc<Self> {
        Arc::new(Self {
            revision,
            connects: Mutex::default(),
            always: Mutex::default(),
            profiles: Mutex::default(),
            sessions: Mutex::default(),
            tools: Mutex::new(vec![tool("echo")]),
            capabilities: Mutex::new(json!({"tools": {"listChanged": true}})),
            meta: Mutex::new(json!({})),
            pages: AtomicUsize::new(1),
            lists_read: AtomicUsize::new(0),
            list_fails: AtomicBool::new(false),
            sign_of_life: Mutex::new(Life::Given),
            gate: Signal::new(),
            ttl: Mutex::default(),
            turns: Semaphore::new(10),
            refusals: AtomicUsize::new(0),
        })
    }

    pub(super) fn legacy() -> Arc<Self> {
        Self::new(Revision::V2025_11_25)
    }

    pub(super) fn modern() -> Arc<Self> {
        Self::new(Revision::NEWEST)
    }

    pub(super) fn upstream(self: &Arc<Self>, options: UpstreamOptions) -> Arc<Upstream> {
        let upstream = Upstream::new("fake".parse().unwrap(), Arc::new(FakeConnect(self.clone())), options);
        upstream.start();
        upstream
    }

    pub(super) fn next_connects(&self, connects: impl IntoIterator<Item = ConnectOutcome>) {
        self.connects.lock().unwrap().extend(connects);
    }

    /// Number of connection attempts.
    pub(super) fn tries(&self) -> usize {
        self.profiles.lock().unwrap().len()
    }

    pub(super) fn session(&self, number: usize) -> Arc<FakeSession> {
        self.sessions.lock().unwrap()[number].clone()
    }

    /// Sessions that are neither closed nor lost.
    pub(super) fn open_sessions(&self) -> usize {
        let sessions = self.sessions.lock().unwrap();
        sessions.iter().filter(|s| !s.closed.load(Ordering::SeqCst) && s.lost.borrow().is_none()).count()
    }

    fn list(&self, params: Option<&Raw>) -> Outcome {
        self.lists_read.fetch_add(1, Ordering::SeqCst);
        if self.list_fails.load(Ordering::SeqCst) {
            return Err(Fault::new(FaultKind::BadAnswer, "no list today"));
        }
        let page: usize = params
            .and_then(|params| params.member_as::<String>("cursor"))
            .map_or(0, |cursor| cursor.parse().unwrap());
        let tools = self.tools.lock().unwrap();
        let pages = self.pages.load(Ordering::SeqCst);
        let per_page = tools.len().div_ceil(pages.min(tools.len()).max(1)).max(1);
        let some: Vec<_> = tools.iter().skip(page * per_page).take(per_page).cloned().collect();
        let mut result = json!({"tools": some});
        if page + 1 < pages {
            result["nextCursor"] = (page + 1).to_string().into();
        }
        if let Some(ttl) = *self.ttl.lock().unwrap() {
            result["ttlMs"] = ttl.into();
        }
        Ok(result.into())
    }
}

impl Connect for FakeConnect {
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let fake = self.0.clone();
        async move {
            fake.profiles.lock().unwrap().push(profile.clone());
            let broken = |kind, permanent| {
                let fault = Fault::new(kind, "`/secret/path` said no");
                Err(ConnectError { fault, permanent })
            };
            if let Some(kind) = *fake.always.lock().unwrap() {
                return broken(kind, false);
            }
            let connect = fake.connects.lock().unwrap().pop_front().unwrap_or(ConnectOutcome::Open);
            match connect {
                ConnectOutcome::Missing => return broken(FaultKind::CannotStart, true),
                ConnectOutcome::Hangs => std::future::pending::<()>().await,
                ConnectOutcome::Open => {}
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            let mut sessions = fake.sessions.lock().unwrap();
            let session = Arc::new(FakeSession {
                fake: fake.clone(),
                number: sessions.len(),
                profile,
                lost: watch::Sender::new(None),
                closed: AtomicBool::new(false),
                listener: Mutex::default(),
                notifications: Mutex::default(),
                calls: AtomicUsize::new(0),
            });
            sessions.push(session.clone());
            Ok(session as Arc<dyn Session>)
        }
        .boxed()
    }
}

impl FakeSession {
    pub(super) fn kill(&self) {
        let fault = Fault::new(FaultKind::ServerExited, "the server's process ended").with_detail("killed");
        self.lost.send_replace(Some(fault));
    }

    pub(super) fn say(&self, method: &'static str) {
        let listener = self.listener.lock().unwrap();
        listener.as_ref().unwrap()(Notification::new(method, None));
    }

    fn answer(&self, call: &Call) -> Raw {
        let arguments = call.params.as_ref().and_then(|params| params.member("arguments"));
        let result = json!({
            "session": self.number,
            "principal": self.profile.principal,
            "caller": call.caller.id,
            "arguments": arguments,
        });
        result.into()
    }
}

impl Handler for FakeSession {
    fn call(&self, call: Call) -> Reply {
        let session = self.fake.sessions.lock().unwrap()[self.number].clone();
        if call.params.as_ref().and_then(|params| params.text_of("name")).as_deref() == Some("asks") {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let question =
                Question::new("elicitation/create", None, move |outcome| drop(sender.send(outcome)));
            let answered = stream::once(async { Part::Final(receiver.await.unwrap()) });
            return Reply::new(stream::iter([Part::Question(question)]).chain(answered));
        }
        Reply::new(stream::once(async move {
            session.calls.fetch_add(1, Ordering::SeqCst);
            let mut lost = session.lost.subscribe();
            let work = session.clone().work(call);
            tokio::select! {
                biased;
                outcome = work => Part::Final(outcome),
                lost = lost.wait_for(Option::is_some) => Part::Final(Err(lost.unwrap().clone().unwrap())),
            }
        }))
    }

    fn notify(&self, notice: Notify) {
        self.notifications.lock().unwrap().push(notice.notification.method.into_owned());
    }
}

impl FakeSession {
    async fn work(self: Arc<Self>, call: Call) -> Outcome {
        let lost = self.lost.borrow().clone();
        if let Some(fault) = lost {
            return Err(fault);
        }
        match call.method.as_ref() {
            "tools/list" => return self.fake.list(call.params.as_ref()),
            "subscriptions/listen" => std::future::pending().await,
            "ping" | "server/discover" => {
                let life = *self.fake.sign_of_life.lock().unwrap();
                match life {
                    Life::Given => return Ok(Raw::empty_object()),
                    Life::Refused => return Err(Fault::new(FaultKind::CannotConnect, "nobody there")),
                    Life::Silent => std::future::pending().await,
                }
            }
            _ => {}
        }
        let name: Option<String> = call.params.as_ref().and_then(|params| params.member_as("name"));
        match name.as_deref() {
            Some("gate") => self.fake.gate.notified().await,
            Some("queue") => {
                // Ten at a time, ten milliseconds each: at most a thousand per second.
                let _turn = self.fake.turns.acquire().await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Some("never") => std::future::pending().await,
            Some("breaks") => return Err(Fault::new(FaultKind::ConnectionLost, "the connection broke")),
            Some("sick") => return Err(Fault::new(FaultKind::BadAnswer, "gibberish")),
            Some("unreachable-at-first") if self.number == 0 => {
                return Err(Fault::new(FaultKind::CannotConnect, "nobody there"));
            }
            Some("too-often-at-first") if self.fake.refusals.fetch_add(1, Ordering::Relaxed) < 2 => {
                return Err(too_often(3));
            }
            Some("too-often") => return Err(too_often(7)),
            Some("too-often-for-long") => return Err(too_often(3600)),
            _ => {}
        }
        Ok(self.answer(&call))
    }
}

impl Session for FakeSession {
    fn introduction(&self) -> Raw {
        json!({
            "supportedVersions": [self.fake.revision.as_str()],
            "capabilities": *self.fake.capabilities.lock().unwrap(),
            "_meta": *self.fake.meta.lock().unwrap(),
        })
        .into()
    }

    fn revision(&self) -> Revision {
        self.fake.revision
    }

    fn on_event(&self, listener: Box<dyn Fn(Notification) + Send + Sync>) {
        *self.listener.lock().unwrap() = Some(listener);
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let mut lost = self.lost.subscribe();
        async move {
            match lost.wait_for(Option::is_some).await.ok().and_then(|fault| fault.clone()) {
                Some(fault) => fault,
                None => std::future::pending().await,
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.closed.store(true, Ordering::SeqCst);
        async {}.boxed()
    }
}

pub(super) fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// A tool call by `who`, whose client has these capabilities.
pub(super) fn call_as(who: &str, capabilities: &Value, name: &str) -> Call {
    let params =
        json!({"name": name, "arguments": {"who": who}, "_meta": {meta::CLIENT_CAPABILITIES: capabilities}});
    let mut call = Call::new("tools/call", Some(params.into()));
    call.caller = Arc::new(Caller { id: who.to_owned(), ..(*Caller::local()).clone() });
    call
}

pub(super) fn call(name: &str) -> Call {
    call_as("ada", &json!({}), name)
}

/// Waits until `wanted` is true; fails after a simulated hour.
pub(super) async fn until(upstream: &Upstream, wanted: impl Fn(&Status) -> bool) -> Status {
    let mut versions = upstream.watch();
    let waiting = async {
        loop {
            versions.mark_unchanged();
            let status = upstream.status();
            if wanted(&status) {
                return status;
            }
            // Not every change of the status is announced.
            tokio::time::timeout(Duration::from_millis(50), versions.changed()).await.ok();
        }
    };
    match tokio::time::timeout(Duration::from_hours(1), waiting).await {
        Ok(status) => status,
        Err(elapsed) => panic!("it never came: {elapsed}: {:#?}", upstream.status()),
    }
}

pub(super) async fn until_listed(upstream: &Upstream) -> Arc<Offer> {
    until(upstream, |status| status.state == State::Ready && !status.stale && status.revision.is_some())
        .await;
    upstream.offer().unwrap()
}

/// The fault of HTTP 429 with `Retry-After`.
fn too_often(seconds: u64) -> Fault {
    Fault::new(FaultKind::RateLimited, "too often").with_data(json!({"retryAfter": seconds}).into())
}
