//! Speaker: asks on one line, and keeps what was asked and answered.

use super::{
    dial::DialError,
    dress,
    http::{Enough, HttpAsk, HttpLine, TOO_LATE},
    inbox::{Inbox, Missing, answers, is_nameless, is_response},
    pipe::{LEAVE, PipeLine},
    say::{Expect, Heard, Say},
    sse::SseLine,
};
use crate::evidence::{Direction, Exchange, Frame, HttpHead, Line, Settled, Step};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use trunkline_process::Patience;
use trunkline_protocol::Era;

/// How long to wait for the beginning of an answer that may be an endless stream.
const HEAD: Duration = Duration::from_millis(500);

/// How long even a slow server may take to leave.
const LONGEST_LEAVE: Duration = Duration::from_secs(10);

/// How long a process that did not leave by itself may take after SIGTERM.
const TERM: Duration = Duration::from_millis(500);

/// How long an answer to the first message may take once something else was written.
const AFTER_NOISE: Duration = Duration::from_secs(10);

/// How many times longer many requests may take together than one alone: a server may take them one by one.
const TOGETHER: u32 = 3;

/// One line, and the era spoken on it.
#[derive(Debug)]
pub struct Speaker {
    way: Result<Way, DialError>,
    inbox: Inbox,
    era: Era,
    next_id: i64,
    answer: Duration,
    quiet: Duration,
}

#[derive(Debug)]
pub(crate) enum Way {
    Pipe(PipeLine),
    Http(HttpLine),
    Sse(SseLine),
}

impl Speaker {
    pub(crate) fn new(
        way: Result<Way, DialError>,
        inbox: Inbox,
        era: Era,
        (answer, quiet): (Duration, Duration),
    ) -> Self {
        inbox.edit(|line| line.era = Some(era));
        Self { way, inbox, era, next_id: 1, answer, quiet }
    }

    pub fn era(&self) -> Era {
        self.era
    }

    /// Why there is no line.
    pub fn failed(&self) -> Option<&str> {
        self.way.as_ref().err().map(|error| error.why.as_str())
    }

    pub fn has_ended(&self) -> bool {
        self.inbox.has_ended()
    }

    /// Whether the server is a process, or plays one in a test.
    pub(crate) fn is_process(&self) -> bool {
        matches!(self.way, Ok(Way::Pipe(_)))
    }

    /// The server's process, if it is one.
    pub fn process(&self) -> Option<i32> {
        match &self.way {
            Ok(Way::Pipe(pipe)) => pipe.process(),
            _ => None,
        }
    }

    /// The address of the server, if it has one.
    pub fn url(&self) -> Option<url::Url> {
        match &self.way {
            Ok(Way::Http(http)) => Some(http.target().url().clone()),
            _ => None,
        }
    }

    /// Asks as a client of this era would, and waits for the answer.
    pub async fn ask(&mut self, step: Step, method: &str, params: Value) -> Heard {
        let id = self.fresh_id();
        let message = dress::request(self.era, &id, method, params);
        self.say(Say::new(step, &message, Expect::Answer(id))).await
    }

    /// The same, where one step has several questions.
    pub async fn ask_variant(
        &mut self,
        (step, variant): (Step, impl Into<String>),
        method: &str,
        params: Value,
    ) -> Heard {
        let id = self.fresh_id();
        let message = dress::request(self.era, &id, method, params);
        self.say(Say::new(step, &message, Expect::Answer(id)).variant(variant)).await
    }

    /// Sends a notification as a client of this era would.
    pub async fn tell(&mut self, step: Step, method: &str, params: Value) -> Heard {
        let message = dress::notification(self.era, method, params);
        self.say(Say::new(step, &message, Expect::Nothing)).await
    }

    /// Sends bytes as they are.
    pub async fn say(&mut self, say: Say) -> Heard {
        if matches!(self.way, Ok(Way::Http(_))) {
            let Say { step, variant, bytes, expect } = say;
            return self.http((step, variant), HttpAsk::post(bytes), expect).await;
        }
        let mark = self.inbox.mark();
        let began = Instant::now();
        let sent = self.inbox.keep(Direction::Sent, &say.bytes);
        let (head, failure) = match &self.way {
            Ok(Way::Pipe(pipe)) => (None, pipe.send(say.bytes).await.err()),
            Ok(Way::Sse(sse)) => match sse.post(say.bytes).await {
                Ok(head) => (Some(head), None),
                Err(why) => (None, Some(why)),
            },
            Ok(Way::Http(_)) => unreachable!("HTTP has its own way above"),
            Err(error) => (None, Some(error.why.clone())),
        };
        let (answer, settled) = match failure {
            Some(why) if !self.inbox.has_ended() => (None, Settled::Failed(why)),
            _ => self.wait(mark, began, &say.expect).await,
        };
        if settled == Settled::Gone
            && let Ok(Way::Pipe(pipe)) = &self.way
        {
            pipe.note_ending().await;
        }
        let got = self.inbox.received(mark, self.inbox.mark());
        self.keep(Exchange {
            step: say.step,
            variant: say.variant,
            sent,
            got,
            answer,
            settled,
            http: head,
            took: began.elapsed(),
        })
    }

    /// Sends an HTTP request of any kind; on other lines nothing happens.
    pub async fn http(
        &mut self,
        (step, variant): (Step, impl Into<String>),
        mut ask: HttpAsk,
        expect: Expect,
    ) -> Heard {
        if expect == Expect::Told {
            ask.enough = Enough::AnyMessage;
            ask.linger = self.quiet;
        }
        let Ok(Way::Http(http)) = &self.way else {
            let settled = Settled::Failed("this line is no HTTP".to_owned());
            return Heard { answer: None, settled, http: None };
        };
        let began = Instant::now();
        let sent = (!ask.body.is_empty()).then(|| self.inbox.keep(Direction::Sent, &ask.body)).flatten();
        let id = match &expect {
            Expect::Answer(id) => Some(id),
            Expect::Any | Expect::Nothing | Expect::Soon | Expect::Told => None,
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
        };
        match got {
            Ok(got) => {
                exchange.answer = match expect {
                    Expect::Answer(_) => got.answer,
                    Expect::Any | Expect::Nothing | Expect::Soon | Expect::Told => {
                        self.response_among(&got.frames)
                    }
                };
                exchange.settled = match (exchange.answer, &expect) {
                    (Some(_), _) => Settled::Answered,
                    (None, Expect::Nothing | Expect::Soon | Expect::Told) => Settled::Quiet,
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

    /// Sends many requests at once and waits for all answers together.
    pub async fn ask_together(&mut self, step: Step, messages: Vec<(Value, Value)>) {
        let began = Instant::now();
        let patience = self.answer;
        self.answer = patience * TOGETHER;
        let until = began + self.answer;
        if let Ok(Way::Http(http)) = &self.way {
            let (era, inbox) = (self.era, &self.inbox);
            let asks = messages.into_iter().map(async |(id, message)| {
                let bytes = dress::bytes(&message);
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
                let (variant, took) = (id.to_string(), began.elapsed());
                self.keep(Exchange { step, variant, sent, got, answer, settled, http, took });
            }
            self.answer = patience;
            return;
        }
        let mark = self.inbox.mark();
        let mut sent = Vec::new();
        for (id, message) in messages {
            let bytes = dress::bytes(&message);
            let at = self.inbox.keep(Direction::Sent, &bytes);
            match &self.way {
                Ok(Way::Pipe(pipe)) => drop(pipe.send(bytes).await),
                Ok(Way::Sse(sse)) => drop(sse.post(bytes).await),
                Ok(Way::Http(_)) | Err(_) => {}
            }
            sent.push((id, at));
        }
        for (id, sent) in sent {
            let (answer, settled) = self.wait(mark, began, &Expect::Answer(id.clone())).await;
            let (variant, took) = (id.to_string(), began.elapsed());
            let got = answer.into_iter().collect();
            self.keep(Exchange { step, variant, sent, got, answer, settled, http: None, took });
        }
        self.answer = patience;
    }

    /// The session a legacy server has begun over HTTP.
    pub fn session(&self) -> Option<String> {
        match &self.way {
            Ok(Way::Http(http)) => http.session.clone(),
            _ => None,
        }
    }

    /// Sends an HTTP request to another address of the server.
    pub async fn http_at(&mut self, url: &url::Url, at: (Step, impl Into<String>), ask: HttpAsk) -> Heard {
        let Ok(Way::Http(http)) = &mut self.way else {
            let settled = Settled::Failed("this line is no HTTP".to_owned());
            return Heard { answer: None, settled, http: None };
        };
        let Some(before) = http.retarget(url) else {
            let settled = Settled::Failed("the address cannot be used".to_owned());
            return Heard { answer: None, settled, http: None };
        };
        let heard = self.http(at, ask, Expect::Any).await;
        if let Ok(Way::Http(http)) = &mut self.way {
            http.restore(before);
        }
        heard
    }

    /// Gets a JSON document; none if there is none.
    pub async fn fetch(&mut self, url: &url::Url, at: (Step, &str)) -> Option<Value> {
        let ask = HttpAsk::bare(http::Method::GET).header("accept", "application/json");
        let heard = self.http_at(url, at, ask).await;
        let head = heard.http.filter(HttpHead::is_success)?;
        serde_json::from_str(&head.body).ok()
    }

    /// Sends an HTTP request and looks only at how the answer begins; a stream that stays open is left.
    pub async fn http_head(&mut self, at: (Step, impl Into<String>), ask: HttpAsk) -> Heard {
        let answer = self.answer;
        self.answer = answer.min(HEAD);
        let heard = self.http(at, ask, Expect::Nothing).await;
        self.answer = answer;
        heard
    }

    /// Keeps something that was seen beside the frames.
    pub fn observe(&mut self, step: Step, what: impl Into<String>) {
        self.inbox.edit(|line| line.observed.push((step, what.into())));
    }

    /// Begins a conversation as the era wants it. True if the server plays along.
    pub async fn introduce(&mut self, step: Step) -> Option<Value> {
        match self.era {
            Era::Modern => {
                let heard = self.ask(step, "server/discover", json!({})).await;
                heard.result().cloned()
            }
            Era::Legacy => self.initialize(step, trunkline_protocol::Revision::NEWEST_LEGACY.as_str()).await,
        }
    }

    /// `initialize` with this version, and `initialized` when it is answered.
    pub async fn initialize(&mut self, step: Step, version: &str) -> Option<Value> {
        let heard = self.ask(step, "initialize", dress::initialize_params(version)).await;
        let result = heard.result()?.clone();
        if let Ok(Way::Http(http)) = &mut self.way {
            let session = heard.http.as_ref().and_then(|head| head.header("mcp-session-id"));
            http.session = session.map(str::to_owned);
            http.version = result["protocolVersion"].as_str().map(str::to_owned);
        }
        let initialized = dress::notification(self.era, "notifications/initialized", Value::Null);
        let quiet = std::mem::replace(&mut self.quiet, Duration::ZERO);
        self.say(Say::new(crate::probes::INITIALIZED, &initialized, Expect::Nothing)).await;
        self.quiet = quiet;
        Some(result)
    }

    /// How long answers may take from now on.
    pub(crate) fn patience(&mut self, answer: Duration) {
        self.answer = answer;
    }

    /// An id that was not used on this line.
    pub fn fresh_id(&mut self) -> Value {
        self.next_id += 1;
        Value::from(self.next_id - 1)
    }

    /// Looks at what was recorded so far.
    pub fn so_far<T>(&self, look: impl FnOnce(&Line) -> T) -> T {
        self.inbox.edit(|line| look(line))
    }

    /// Ends the line and gives its record.
    pub async fn finish(self) -> Line {
        if let Ok(Way::Pipe(pipe)) = self.way {
            // A server that is slow to start is slow to leave, on a machine that has other things to do.
            let first = self.inbox.edit(|line| {
                let answered = line.exchanges.first().filter(|first| first.settled == Settled::Answered);
                answered.map_or(LEAVE, |first| first.took)
            });
            pipe.finish(Patience { eof: first.clamp(LEAVE, LONGEST_LEAVE), term: TERM }).await;
        }
        self.inbox.take()
    }

    async fn wait(&self, mark: usize, began: Instant, expect: &Expect) -> (Option<usize>, Settled) {
        let any = |frame: &Frame| {
            frame.json().is_some_and(|message| {
                message.get("method").is_none()
                    && (message.get("result").is_some()
                        || message.get("error").is_some()
                        || message.is_array())
            })
        };
        let (found, limit) = match expect {
            Expect::Soon => return (None, Settled::Quiet),
            Expect::Told => {
                let received = |frame: &crate::evidence::Frame| frame.direction == Direction::Received;
                self.inbox.wait_for(mark, began + self.answer, received).await.ok();
                return (None, Settled::Quiet);
            }
            Expect::Answer(id) => {
                // To the first message of a line there is nothing else that could be answered.
                let first = self.is_first(mark);
                let fits = |frame: &Frame| answers(frame, id) || (first && is_response(frame));
                let until = if first { self.first_until(began, fits).await } else { began + self.answer };
                (self.inbox.wait_for(mark, until, fits).await, until - began)
            }
            Expect::Any => (self.inbox.wait_for(mark, began + self.answer, any).await, self.answer),
            Expect::Nothing => (self.inbox.wait_for(mark, began + self.quiet, any).await, self.quiet),
        };
        let found = match (found, expect) {
            // Only now: it may belong to something that was sent before and could not be read.
            (Err(missing), Expect::Answer(_)) => self.nameless(mark).ok_or(missing),
            (found, _) => found,
        };
        match (found, expect) {
            (Ok(at), _) => (Some(at), Settled::Answered),
            (Err(Missing::Ended), _) => (None, Settled::Gone),
            (Err(Missing::Late), Expect::Nothing) => (None, Settled::Quiet),
            (Err(Missing::Late), _) => (None, Settled::Silent(limit)),
        }
    }

    /// Whether nothing was sent before this mark.
    fn is_first(&self, mark: usize) -> bool {
        self.inbox.edit(|line| line.frames.iter().take(mark).all(|frame| frame.direction != Direction::Sent))
    }

    /// Until when the answer to the first message of a line may come: a server that speaks, and not as it should, is not
    /// waited for as long as one that is still starting.
    async fn first_until(&self, began: Instant, fits: impl Fn(&Frame) -> bool) -> Instant {
        let until = began + self.answer;
        let spoke = |frame: &Frame| fits(frame) || frame.direction == Direction::Noise;
        match self.inbox.wait_for(0, until, spoke).await {
            Ok(_) => until.min(Instant::now() + AFTER_NOISE),
            Err(_) => until,
        }
    }

    fn nameless(&self, mark: usize) -> Option<usize> {
        let came = self.inbox.received(mark, self.inbox.mark());
        self.inbox.edit(|line| came.into_iter().find(|at| is_nameless(&line.frames[*at])))
    }

    fn response_among(&self, frames: &[usize]) -> Option<usize> {
        self.inbox.edit(|line| {
            let response = |at: &&usize| {
                line.frames[**at].json().is_some_and(|message| {
                    message.get("result").is_some() || message.get("error").is_some() || message.is_array()
                })
            };
            frames.iter().find(response).copied()
        })
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
