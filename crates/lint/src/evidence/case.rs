//! Case: the evidence of one era, which is the input of most rules.

use super::{
    Evidence, Exchange, Frame, FrameRef, HttpHead, Item, Line, List, Settled, Step, exchange,
    frame::Direction, listed,
};
use crate::{
    outcome::{Finding, Skip},
    probes::{self, Probe},
};
use serde_json::Value;
use trunkline_client::Carrier;
use trunkline_protocol::Era;

const WANTS_TOKEN: &str = "the server wants a token for it; give it one with --header";

#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    evidence: &'a Evidence,
    era: Era,
}

/// An exchange and its line.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    evidence: &'a Evidence,
    line: usize,
    exchange: &'a Exchange,
}

/// A JSON message from the server; each member of a batch is a separate message.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    pub frame: FrameRef,
    /// Pointer to the message in its frame; empty unless it is part of a batch.
    pub pointer: String,
    pub value: &'a Value,
}

impl<'a> Case<'a> {
    pub fn new(evidence: &'a Evidence, era: Era) -> Self {
        Self { evidence, era }
    }

    pub fn evidence(&self) -> &'a Evidence {
        self.evidence
    }

    pub fn era(&self) -> Era {
        self.era
    }

    pub fn carrier(&self) -> Carrier {
        self.evidence.carrier
    }

    /// The fuzzed lines of this era; they are no evidence for other rules.
    pub fn fuzzed_lines(&self) -> impl Iterator<Item = (usize, &'a Line)> + use<'a> {
        let era = self.era;
        let lines = self.evidence.lines.iter().enumerate();
        lines.filter(move |(_, line)| line.era == Some(era) && line.is_fuzzed())
    }

    /// The lines of this era without fuzzed ones, with their indices.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &'a Line)> + use<'a> {
        let era = self.era;
        self.evidence
            .lines
            .iter()
            .enumerate()
            .filter(move |(_, line)| line.era == Some(era) && !line.is_fuzzed())
    }

    /// All exchanges of a step, in order.
    pub fn asked(&self, step: Step) -> impl Iterator<Item = Asked<'a>> + use<'a> {
        let era = self.era;
        let evidence = self.evidence;
        evidence.asked(step).filter(move |asked| {
            asked.line().era.is_none_or(|spoken| spoken == era) && !asked.line().is_fuzzed()
        })
    }

    /// The first exchange of a step, or the reason why there is none.
    pub fn first(&self, probe: &Probe, step: Step) -> Result<Asked<'a>, Skip> {
        let first = self.asked(step).next().ok_or_else(|| self.missing(probe))?;
        if first.wants_token() { Err(Skip::not_verified(WANTS_TOKEN)) } else { Ok(first) }
    }

    /// All exchanges of a step (at least one), or the reason why there is none.
    pub fn all(&self, probe: &Probe, step: Step) -> Result<Vec<Asked<'a>>, Skip> {
        let all: Vec<_> = self.asked(step).collect();
        if all.is_empty() {
            return Err(self.missing(probe));
        }
        let open: Vec<_> = all.into_iter().filter(|asked| !asked.wants_token()).collect();
        if open.is_empty() { Err(Skip::not_verified(WANTS_TOKEN)) } else { Ok(open) }
    }

    /// The `Skip` for a rule whose probe left no evidence.
    pub fn missing(&self, probe: &Probe) -> Skip {
        let why = self.evidence.why_missed(probe, Some(self.era));
        Skip::NotVerified(match why {
            Some(why) => format!("the probe `{}` has no evidence: {why}", probe.name),
            None => format!("the probe `{}` was not run", probe.name),
        })
    }

    /// All JSON messages of the server, with batches split.
    pub fn messages(&self) -> Vec<Message<'a>> {
        let mut messages = Vec::new();
        for (index, line) in self.lines() {
            for (number, frame) in line.frames.iter().enumerate() {
                let at = FrameRef { line: index, frame: number };
                if frame.direction == Direction::Received {
                    messages.extend(messages_of(at, frame));
                }
            }
        }
        messages
    }

    /// The same, or the `Skip` of a rule if there is none.
    pub fn some_messages(&self) -> Result<Vec<Message<'a>>, Skip> {
        let messages = self.messages();
        if messages.is_empty() { Err(Skip::no_message()) } else { Ok(messages) }
    }

    /// All responses of the server.
    pub fn responses(&self) -> impl Iterator<Item = Message<'a>> {
        self.messages().into_iter().filter(Message::is_response)
    }

    /// The result of `initialize` or `server/discover`.
    pub fn introduction(&self) -> Option<&'a Value> {
        self.introduced()?.result()
    }

    /// The exchange in which the server introduced itself.
    pub fn introduced(&self) -> Option<Asked<'a>> {
        let step = match self.era {
            Era::Legacy => probes::INITIALIZE,
            Era::Modern => probes::DISCOVER,
        };
        self.asked(step).find(|asked| asked.result().is_some())
    }

    /// A declared capability, such as `tools` or `resources.subscribe`; `None` if absent, `false`
    /// or `null`.
    pub fn capability(&self, path: &str) -> Option<&'a Value> {
        let capabilities = self.introduction()?.get("capabilities")?;
        let found = path.split('.').try_fold(capabilities, |at, name| at.get(name))?;
        (!found.is_null() && *found != Value::Bool(false)).then_some(found)
    }

    /// The capability, or the `Skip` for a rule about an undeclared feature.
    pub fn needs_capability(&self, path: &str) -> Result<&'a Value, Skip> {
        self.capability(path)
            .ok_or_else(|| Skip::not_applicable(format!("the server does not declare `{path}`")))
    }

    /// A complete list, from all pages of the first traversal.
    pub fn list(&self, which: List) -> Result<Vec<Item<'a>>, Skip> {
        self.needs_capability(which.capability())?;
        listed::items(self, which)
    }
}

impl<'a> Asked<'a> {
    pub(crate) fn new(evidence: &'a Evidence, line: usize, exchange: &'a Exchange) -> Self {
        Self { evidence, line, exchange }
    }

    /// True if it was refused for a missing token, which is no evidence for other rules.
    fn wants_token(&self) -> bool {
        self.http().is_some_and(|http| http.status == 401)
    }

    pub fn variant(&self) -> &'a str {
        &self.exchange.variant
    }

    pub fn settled(&self) -> &'a Settled {
        &self.exchange.settled
    }

    /// See [`Exchange::own_time`].
    pub fn took(&self) -> std::time::Duration {
        self.exchange.own_time()
    }

    pub fn http(&self) -> Option<&'a HttpHead> {
        self.exchange.http.as_ref()
    }

    /// True if it happened on the line with this index.
    pub fn is_on(&self, line: usize) -> bool {
        self.line == line
    }

    pub fn line(&self) -> &'a Line {
        &self.evidence.lines[self.line]
    }

    pub fn sent(&self) -> Option<&'a Frame> {
        self.line().frames.get(self.exchange.sent?)
    }

    pub fn sent_ref(&self) -> Option<FrameRef> {
        self.exchange.sent.map(|frame| self.at(frame))
    }

    pub fn answer_ref(&self) -> Option<FrameRef> {
        self.exchange.answer.map(|frame| self.at(frame))
    }

    /// The response as JSON.
    pub fn answer(&self) -> Option<&'a Value> {
        self.line().frames.get(self.exchange.answer?)?.json()
    }

    pub fn result(&self) -> Option<&'a Value> {
        self.answer()?.get("result").filter(|result| !result.is_null())
    }

    pub fn error(&self) -> Option<&'a Value> {
        self.answer()?.get("error").filter(|error| !error.is_null())
    }

    pub fn error_code(&self) -> Option<i64> {
        self.error()?.get("code")?.as_i64()
    }

    /// True if the answer is a result or -32601 (unknown method): both show a responsive server.
    pub fn lives(&self) -> bool {
        self.result().is_some() || self.error_code() == Some(-32601)
    }

    /// All frames of the exchange.
    pub fn frames(&self) -> Vec<FrameRef> {
        self.exchange.sent.iter().chain(&self.exchange.got).map(|frame| self.at(*frame)).collect()
    }

    /// True for a response to a request that was sent before this exchange on the same line.
    pub fn is_late(&self, message: &Message<'_>) -> bool {
        let Some(id) = message.value.get("id").filter(|id| !id.is_null()) else { return false };
        let before = self.line().frames.iter().take(self.exchange.sent.unwrap_or_default());
        let mut sent = before.filter(|frame| frame.direction == Direction::Sent);
        sent.any(|frame| frame.json().and_then(|it| it.get("id")) == Some(id))
    }

    /// The first frame of the exchange that is no message.
    pub fn noise(&self) -> Option<&'a Frame> {
        let frames = self.exchange.got.iter().map(|number| &self.line().frames[*number]);
        frames.into_iter().find(|frame| frame.direction == Direction::Noise)
    }

    /// The messages that arrived during the exchange.
    pub fn got(&self) -> Vec<Message<'a>> {
        let messages = |number: &usize| {
            let frame = &self.line().frames[*number];
            let json = frame.direction == Direction::Received;
            if json { messages_of(self.at(*number), frame) } else { Vec::new() }
        };
        self.exchange.got.iter().flat_map(messages).collect()
    }

    /// A finding with the frames of the exchange, which points into the answer if there is one.
    pub fn finding(&self, message: impl Into<String>, pointer: &str) -> Finding {
        let finding = Finding::new(message);
        let finding = match self.answer_ref() {
            Some(at) => finding.at(at, pointer),
            None => finding.with_frames(self.frames()),
        };
        let finding = finding.with_frames(self.sent_ref());
        match self.http() {
            Some(http) => finding.note(http.describe()),
            None => finding,
        }
    }

    /// The outcome as a clause: `it answered -32603`, `no answer in 2.0 s`, …
    pub fn describe(&self) -> String {
        match (self.error(), self.result()) {
            (Some(_), _) => match self.error_code() {
                Some(code) => format!("it answered the error {code}"),
                None => "it answered an error without a code".to_owned(),
            },
            (None, Some(_)) => "it answered a result".to_owned(),
            (None, None) => match self.http() {
                Some(http) if !http.is_success() => format!("it answered HTTP {}", http.status),
                _ => self.settled().to_string(),
            },
        }
    }

    fn at(&self, frame: usize) -> FrameRef {
        FrameRef { line: self.line, frame }
    }
}

impl exchange::HttpHead {
    /// One line with the HTTP request and the response.
    pub fn describe(&self) -> String {
        let media = self.header("content-type").map(|media| format!(", {media}")).unwrap_or_default();
        format!("{} → HTTP {}{media}", self.request, self.status)
    }
}

impl Message<'_> {
    pub fn is_response(&self) -> bool {
        let has = |name| self.value.get(name).is_some();
        self.value.is_object() && !has("method") && (has("result") || has("error") || has("id"))
    }

    pub fn method(&self) -> Option<&str> {
        self.value.get("method")?.as_str()
    }

    /// A pointer from the frame's root to something in this message.
    pub fn pointer(&self, below: &str) -> String {
        format!("{}{below}", self.pointer)
    }
}

fn messages_of(at: FrameRef, frame: &Frame) -> Vec<Message<'_>> {
    match frame.json() {
        Some(Value::Array(batch)) => batch
            .iter()
            .enumerate()
            .map(|(index, value)| Message { frame: at, pointer: format!("/{index}"), value })
            .collect(),
        Some(value) => vec![Message { frame: at, pointer: String::new(), value }],
        None => Vec::new(),
    }
}
