//! Speaker: sends requests on one line, and records the exchanges.

mod wait;

use super::{
    deadline::CpuQueue,
    dial::{Dial, DialError},
    http::{Enough, HttpAsk, HttpLine, TOO_LATE},
    inbox::Inbox,
    messages,
    pipe::{LEAVE, PipeLine, SHORT_LEAVE},
    say::{Expect, Heard, Say},
    sse::SseLine,
};
use crate::evidence::{Direction, Exchange, HttpHead, Line, MAIN, Settled, Step};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use trunkline_process::GracePeriods;
use trunkline_protocol::Era;
use wait::Beginning;

/// Timeout for a response that may be an endless stream.
const HEAD: Duration = Duration::from_millis(500);

/// Grace period after SIGTERM.
const TERM: Duration = Duration::from_millis(500);

/// Timeout factor for parallel requests, as a server may process them one by one.
const TOGETHER: u32 = 3;

/// One line and its era.
#[derive(Debug)]
pub struct Speaker {
    transport: Result<LineTransport, DialError>,
    inbox: Inbox,
    era: Era,
    next_id: i64,
    answer: Duration,
    longest: Duration,
    quiet: Duration,
}

#[derive(Debug)]
pub(crate) enum LineTransport {
    Pipe(PipeLine),
    Http(HttpLine),
    Sse(SseLine),
}

impl Speaker {
    pub(crate) fn new(
        transport: Result<LineTransport, DialError>,
        inbox: Inbox,
        era: Era,
        dial: &Dial,
    ) -> Self {
        inbox.edit(|line| line.era = Some(era));
        let Dial { answer, longest, quiet, .. } = *dial;
        Self { transport, inbox, era, next_id: 1, answer, longest, quiet }
    }

    /// A line that was never opened.
    pub(crate) fn closed(era: Era, dial: &Dial) -> Self {
        let inbox = Inbox::new("closed");
        inbox.close();
        Self::new(Err(DialError { why: "the line is closed".to_owned() }), inbox, era, dial)
    }

    pub fn era(&self) -> Era {
        self.era
    }

    /// The reason why the line could not be opened.
    pub fn failed(&self) -> Option<&str> {
        self.transport.as_ref().err().map(|error| error.why.as_str())
    }

    pub fn has_ended(&self) -> bool {
        self.inbox.has_ended()
    }

    /// True for stdio, also if a test simulates the process.
    pub(crate) fn is_process(&self) -> bool {
        matches!(self.transport, Ok(LineTransport::Pipe(_)))
    }

    /// The pid of the server's process.
    pub fn process(&self) -> Option<i32> {
        match &self.transport {
            Ok(LineTransport::Pipe(pipe)) => pipe.process(),
            _ => None,
        }
    }

    /// The URL of the server, if it has one.
    pub fn url(&self) -> Option<url::Url> {
        match &self.transport {
            Ok(LineTransport::Http(http)) => Some(http.target().url().clone()),
            _ => None,
        }
    }

    /// Sends a well-formed request of this era, and waits for the answer.
    pub async fn ask(&mut self, step: Step, method: &str, params: Value) -> Heard {
        let id = self.fresh_id();
        let message = messages::request(self.era, &id, method, params);
        self.say(Say::new(step, &message, Expect::Answer(id))).await
    }

    /// Like `ask`, for a step with several requests.
    pub async fn ask_variant(
        &mut self,
        (step, variant): (Step, impl Into<String>),
        method: &str,
        params: Value,
    ) -> Heard {
        let id = self.fresh_id();
        let message = messages::request(self.era, &id, method, params);
        self.say(Say::new(step, &message, Expect::Answer(id)).variant(variant)).await
    }

    /// Sends a well-formed notification of this era.
    pub async fn tell(&mut self, step: Step, method: &str, params: Value) -> Heard {
        let message = messages::notification(self.era, method, params);
        self.say(Say::new(step, &message, Expect::Nothing)).await
    }

    /// Sends raw bytes, and waits as `say.expect` demands.
    pub async fn say(&mut self, say: Say) -> Heard {
        if matches!(self.transport, Ok(LineTransport::Http(_))) {
            let Say { step, variant, bytes, expect } = say;
            return self.http((step, variant), HttpAsk::post(bytes), expect).await;
        }
        let began = self.begin();
        let sent = self.inbox.keep(Direction::Sent, &say.bytes);
        let (head, failure) = match &self.transport {
            Ok(LineTransport::Pipe(pipe)) => (None, pipe.send(say.bytes).await.err()),
            Ok(LineTransport::Sse(sse)) => match sse.post(say.bytes).await {
                Ok(head) => (Some(head), None),
                Err(why) => (None, Some(why)),
            },
            Ok(LineTransport::Http(_)) => unreachable!("HTTP is handled above"),
            Err(error) => (None, Some(error.why.clone())),
        };
        let (answer, settled) = match failure {
            Some(why) if !self.inbox.has_ended() => (None, Settled::Failed(why)),
            // Over HTTP+SSE, nothing comes on the stream for a message that was refused.
            None if head.as_ref().is_some_and(|head| !head.is_success()) => (None, Settled::Quiet),
            _ => self.wait(began, &say.expect).await,
        };
        if settled == Settled::Gone
            && let Ok(LineTransport::Pipe(pipe)) = &self.transport
        {
            pipe.note_ending().await;
        }
        let got = self.inbox.received(began.mark, self.inbox.mark());
        self.keep(Exchange {
            step: say.step,
            variant: say.variant,
            sent,
            got,
            answer,
            settled,
            http: head,
            took: began.at.elapsed(),
            queued: began.queue.waited(),
        })
    }

    fn begin(&self) -> Beginning {
        let (at, queue) = (Instant::now(), CpuQueue::start(self.process()));
        Beginning { mark: self.inbox.mark(), at, queue }
    }

    /// Sends any HTTP request; fails on lines of other transports.
    pub async fn http(
        &mut self,
        (step, variant): (Step, impl Into<String>),
        mut ask: HttpAsk,
        expect: Expect,
    ) -> Heard {
        if expect == Expect::FirstMessage {
            ask.enough = Enough::AnyMessage;
            ask.linger = self.quiet;
        }
        let Ok(LineTransport::Http(http)) = &self.transport else {
            let settled = Settled::Failed("this line does not use HTTP".to_owned());
            return Heard { answer: None, settled, http: None };
        };
        let began = Instant::now();
        let sent = (!ask.body.is_empty()).then(|| self.inbox.keep(Direction::Sent, &ask.body)).flatten();
        let id = match &expect {
            Expect::Answer(id) => Some(id),
            Expect::Any | Expect::Nothing | Expect::NoWait | Expect::FirstMessage => None,
        };
        let got = http.exchange(self.era, &ask, &self.inbox, (id, began + self.answer)).await;
        let took = began.elapsed();
        let mut exchange = Exchange {
            step,
            variant: variant.into(),
            sent,
            got: Vec::new(),
            answer: None,
            settled: Settled::Quiet,
            http: None,
            took,
            queued: Duration::ZERO,
        };
        match got {
            Ok(got) => {
                exchange.answer = match expect {
                    Expect::Answer(_) => got.answer,
                    Expect::Any | Expect::Nothing | Expect::NoWait | Expect::FirstMessage => {
                        self.response_among(&got.frames)
                    }
                };
                exchange.settled = match (exchange.answer, &expect) {
                    (Some(_), _) => Settled::Answered,
                    (None, Expect::Nothing | Expect::NoWait | Expect::FirstMessage) => Settled::Quiet,
                    (None, _) if got.head.ended => Settled::Quiet,
                    (None, _) => Settled::Silent(took),
                };
                exchange.got = got.frames;
                exchange.http = Some(got.head);
            }
            Err(why) if why == TOO_LATE => exchange.settled = Settled::Silent(took),
            Err(why) => exchange.settled = Settled::Failed(why),
        }
        self.keep(exchange)
    }

    /// Sends several requests in parallel and waits for all answers.
    pub async fn ask_together(&mut self, step: Step, messages: Vec<(Value, Value)>) {
        let began = self.begin();
        let patience = self.answer;
        self.answer = patience * TOGETHER;
        let until = began.at + self.answer;
        if let Ok(LineTransport::Http(http)) = &self.transport {
            let (era, inbox) = (self.era, &self.inbox);
            let asks = messages.into_iter().map(async |(id, message)| {
                let bytes = messages::bytes(&message);
                let sent = inbox.keep(Direction::Sent, &bytes);
                let got = http.exchange(era, &HttpAsk::post(bytes), inbox, (Some(&id), until)).await;
                (id, sent, got)
            });
            for (id, sent, got) in futures_util::future::join_all(asks).await {
                let (got, answer, http, settled) = match got {
                    Ok(got) if got.answer.is_some() => {
                        (got.frames, got.answer, Some(got.head), Settled::Answered)
                    }
                    Ok(got) => (got.frames, None, Some(got.head), Settled::Quiet),
                    Err(why) => (Vec::new(), None, None, Settled::Failed(why)),
                };
                let (variant, took) = (id.to_string(), began.at.elapsed());
                let queued = Duration::ZERO;
                self.keep(Exchange { step, variant, sent, got, answer, settled, http, took, queued });
            }
            self.answer = patience;
            return;
        }
        let mut sent = Vec::new();
        for (id, message) in messages {
            let bytes = messages::bytes(&message);
            let at = self.inbox.keep(Direction::Sent, &bytes);
            match &self.transport {
                Ok(LineTransport::Pipe(pipe)) => drop(pipe.send(bytes).await),
                Ok(LineTransport::Sse(sse)) => drop(sse.post(bytes).await),
                Ok(LineTransport::Http(_)) | Err(_) => {}
            }
            sent.push((id, at));
        }
        for (id, sent) in sent {
            let (answer, settled) = self.wait(began, &Expect::Answer(id.clone())).await;
            let (variant, took, queued) = (id.to_string(), began.at.elapsed(), began.queue.waited());
            let got = answer.into_iter().collect();
            self.keep(Exchange { step, variant, sent, got, answer, settled, http: None, took, queued });
        }
        self.answer = patience;
    }

    /// The HTTP session id of a legacy server.
    pub fn session(&self) -> Option<String> {
        match &self.transport {
            Ok(LineTransport::Http(http)) => http.session.clone(),
            _ => None,
        }
    }

    /// Sends an HTTP request to another URL.
    pub async fn http_at(&mut self, url: &url::Url, at: (Step, impl Into<String>), ask: HttpAsk) -> Heard {
        let Ok(LineTransport::Http(http)) = &mut self.transport else {
            let settled = Settled::Failed("this line does not use HTTP".to_owned());
            return Heard { answer: None, settled, http: None };
        };
        let Some(before) = http.retarget(url) else {
            let settled = Settled::Failed("the address cannot be used".to_owned());
            return Heard { answer: None, settled, http: None };
        };
        let heard = self.http(at, ask, Expect::Any).await;
        if let Ok(LineTransport::Http(http)) = &mut self.transport {
            http.restore(before);
        }
        heard
    }

    /// Fetches a JSON document; `None` on any failure.
    pub async fn fetch(&mut self, url: &url::Url, at: (Step, &str)) -> Option<Value> {
        let ask = HttpAsk::bare(http::Method::GET).header("accept", "application/json");
        let heard = self.http_at(url, at, ask).await;
        let head = heard.http.filter(HttpHead::is_success)?;
        serde_json::from_str(&head.body).ok()
    }

    /// Sends an HTTP request and reads only the beginning of the response; closes an open stream.
    pub async fn http_head(&mut self, at: (Step, impl Into<String>), ask: HttpAsk) -> Heard {
        let answer = self.answer;
        self.answer = answer.min(HEAD);
        let heard = self.http(at, ask, Expect::Nothing).await;
        self.answer = answer;
        heard
    }

    /// Records an observation that is not a frame.
    pub fn observe(&mut self, step: Step, what: impl Into<String>) {
        self.inbox.edit(|line| line.observed.push((step, what.into())));
    }

    /// Sends `server/discover` or `initialize`. Returns the result, if there is one.
    pub async fn introduce(&mut self, step: Step) -> Option<Value> {
        match self.era {
            Era::Modern => {
                let heard = self.ask(step, "server/discover", json!({})).await;
                heard.result().cloned()
            }
            Era::Legacy => self.initialize(step, trunkline_protocol::Revision::NEWEST_LEGACY.as_str()).await,
        }
    }

    /// Sends `initialize` with this version, and `notifications/initialized` after a result.
    pub async fn initialize(&mut self, step: Step, version: &str) -> Option<Value> {
        let heard = self.ask(step, "initialize", messages::initialize_params(version)).await;
        let result = heard.result()?.clone();
        if let Ok(LineTransport::Http(http)) = &mut self.transport {
            let session = heard.http.as_ref().and_then(|head| head.header("mcp-session-id"));
            http.session = session.map(str::to_owned);
            http.version = result["protocolVersion"].as_str().map(str::to_owned);
        }
        let initialized = messages::notification(self.era, "notifications/initialized", Value::Null);
        let quiet = std::mem::replace(&mut self.quiet, Duration::ZERO);
        self.say(Say::new(crate::probes::INITIALIZED, &initialized, Expect::Nothing)).await;
        self.quiet = quiet;
        Some(result)
    }

    /// Sets the answer timeout.
    pub(crate) fn patience(&mut self, answer: Duration) {
        self.answer = answer;
    }

    /// A new request id.
    pub fn fresh_id(&mut self) -> Value {
        self.next_id += 1;
        Value::from(self.next_id - 1)
    }

    /// Reads the record so far.
    pub fn so_far<T>(&self, look: impl FnOnce(&Line) -> T) -> T {
        self.inbox.edit(|line| look(line))
    }

    /// Closes the line and returns its record.
    pub async fn finish(self) -> Line {
        if let Ok(LineTransport::Pipe(pipe)) = self.transport {
            // One process that exits by itself suffices, so only the main ones may take long.
            let main = self.inbox.edit(|line| line.purpose == MAIN);
            pipe.finish(GracePeriods { eof: if main { LEAVE } else { SHORT_LEAVE }, term: TERM }).await;
        }
        self.inbox.take()
    }

    fn keep(&self, exchange: Exchange) -> Heard {
        self.inbox.edit(|line| {
            let answer = exchange.answer.and_then(|at| line.frames[at].json().cloned());
            let heard = Heard { answer, settled: exchange.settled.clone(), http: exchange.http.clone() };
            line.exchanges.push(exchange);
            heard
        })
    }
}
