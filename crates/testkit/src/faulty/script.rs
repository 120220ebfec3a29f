//! Script: which faults a server has, as data.

use super::{Effect, IdFault, Written};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A server that is right but for its faults.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub struct Script {
    /// What the fixture shows, for people.
    #[serde(default)]
    pub about: String,
    /// The eras it speaks: `legacy`, `modern`; both if empty.
    #[serde(default)]
    pub eras: Vec<String>,
    /// Over which transport the test speaks with it: `stdio` (the default), `http`, `process`.
    #[serde(default)]
    pub over: Option<String>,
    /// What it offers, instead of the model's: `tools`, `resources`, `resourceTemplates`, `prompts`, `capabilities`,
    /// `instructions`.
    #[serde(default)]
    pub offer: Map<String, Value>,
    /// Over HTTP: asks callers for a token.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Keeps all output until the input has ended.
    #[serde(default)]
    pub buffered: bool,
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// How the server protects itself. What is absent is right.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// Says nothing about where tokens come from.
    #[serde(default)]
    pub mute: bool,
    /// The challenge in the 401.
    pub challenge: Option<String>,
    /// The protected-resource metadata; `$origin` stands for the server's own.
    pub resource: Option<Value>,
    /// The authorization server's metadata.
    pub issuer: Option<Value>,
    /// Takes wrong tokens: `header`, `query`.
    #[serde(default)]
    pub accepts: Vec<String>,
    /// Methods that need no token.
    #[serde(default)]
    pub open: Vec<String>,
    /// The status of a refusal, in place of 401.
    pub status: Option<u16>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    #[serde(default)]
    pub when: When,
    #[serde(rename = "do")]
    pub act: Act,
}

/// Which messages a fault is about; what is not said fits all.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    pub kind: Option<Kind>,
    pub method: Option<String>,
    pub era: Option<String>,
    /// `params.name`, `params.uri` or `params.cursor`.
    pub subject: Option<String>,
    /// Counts the messages that fit the rest, from 1 on each line.
    pub nth: Option<usize>,
    /// How many messages must have come on the line before.
    pub behind: Option<usize>,
    /// Values of the message by pointer.
    #[serde(default)]
    pub equals: BTreeMap<String, Value>,
    /// A pointer into the message that must be there.
    pub has: Option<String>,
    /// A pointer into the message that must not be there.
    pub lacks: Option<String>,
    /// What the texts of the message begin with, by pointer.
    #[serde(default)]
    pub begins: BTreeMap<String, String>,
    /// The error code of the right answer; an unknown notification counts as -32601.
    pub code: Option<i64>,
    /// How many bytes the message has at least.
    pub longer: Option<usize>,
    /// The HTTP method.
    pub http: Option<String>,
    /// Request headers that must have these values.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What request headers begin with.
    #[serde(default)]
    pub header_begins: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Before anything was read.
    Start,
    Request,
    Notification,
    Malformed,
    Batch,
    Invalid,
    /// The end of the input.
    End,
}

/// What happens instead of, or to, the right answer.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the script, and most scripts use one")]
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// The whole message to answer; `"$id"` stands for the id.
    pub answer: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<Value>,
    /// Values of the answer by pointer; the last part of a pointer may be new, `$n` in a text counts the messages.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Values of the answer by pointer, taken from where the other pointer leads in the request.
    #[serde(default)]
    pub copy: BTreeMap<String, String>,
    /// What becomes of the answer's id.
    pub id: Option<IdFault>,
    /// Lists of the answer, by pointer, whose last item is there so many times more, each under a name of its own.
    #[serde(default)]
    pub copies: BTreeMap<String, usize>,
    /// The answer is a tool's or resource's text that is really made of what the request says.
    pub effect: Option<Effect>,
    /// Texts of the answer, by pointer, that are written so many times.
    #[serde(default)]
    pub repeat: BTreeMap<String, usize>,
    /// Parts of the answer that are taken away.
    #[serde(default)]
    pub remove: Vec<String>,
    /// Lines written as they are before the answer; `$id` stands for the id, `$answer` for the whole right answer.
    #[serde(default)]
    pub before: Vec<String>,
    /// Lines written as they are after it.
    #[serde(default)]
    pub after: Vec<String>,
    /// Text written in place of the answer, without a newline of its own.
    pub raw: Option<String>,
    /// Bytes in place of the answer, as hexadecimal digits.
    pub hex: Option<String>,
    /// Answers each message of a batch.
    #[serde(default)]
    pub serve_batch: bool,
    /// How the answer becomes bytes.
    pub written: Option<Written>,
    #[serde(default)]
    pub silence: bool,
    /// Answers nothing from now on.
    #[serde(default)]
    pub deaf: bool,
    #[serde(default)]
    pub delay_ms: u64,
    /// Keep the answer until the next message has come.
    #[serde(default)]
    pub hold: bool,
    /// Ends the process, or the line.
    pub exit: Option<i32>,
    /// Does not leave at the end of its input.
    #[serde(default)]
    pub stay: bool,
    /// Leaves a child of its own behind that goes on for a while; a process only.
    #[serde(default)]
    pub child: bool,
    /// Before it answers, fetches the address that stands in the message at this pointer.
    pub fetch: Option<String>,
    /// Works on, and keeps every other request waiting, though nobody listens any more.
    #[serde(default)]
    pub block: bool,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The status in place of a right one.
    #[serde(default)]
    pub statuses: BTreeMap<u16, u16>,
    /// Headers of the HTTP answer; an empty value takes one away, `$n` counts the messages.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Answer over an event stream.
    #[serde(default)]
    pub stream: bool,
    /// Keep the stream open behind the answer.
    #[serde(default)]
    pub linger: bool,
    /// Leaves out the checks that would refuse the HTTP request.
    #[serde(default)]
    pub lenient: bool,
    /// Leaves out these checks only.
    #[serde(default)]
    pub unchecked: Vec<HttpCheck>,
}

/// A check of an HTTP request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HttpCheck {
    Origin,
    Host,
    /// That there are no GET requests here.
    Get,
    MediaType,
    Version,
    Session,
    /// Modern: that the headers say what the body says.
    Headers,
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub fn speaks(&self, era: &str) -> bool {
        self.eras.is_empty() || self.eras.iter().any(|spoken| spoken == era)
    }
}
