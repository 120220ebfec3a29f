//! Script: the faults of a server, as data.

use super::{Effect, IdFault, Written};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A server that is correct except for its faults.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub struct Script {
    /// Describes the fixture, for readers.
    #[serde(default)]
    pub about: String,
    /// The eras it supports: `legacy`, `modern`; both if empty.
    #[serde(default)]
    pub eras: Vec<String>,
    /// The transport of the test: `stdio` (the default), `http`, `process`.
    #[serde(default)]
    pub over: Option<String>,
    /// Replaces what the model offers: `tools`, `resources`, `resourceTemplates`, `prompts`,
    /// `capabilities`, `instructions`.
    #[serde(default)]
    pub offer: Map<String, Value>,
    /// Over HTTP: requires a token.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Buffers all output until EOF of the input.
    #[serde(default)]
    pub buffered: bool,
    /// Ends the earlier connection when a new one is opened; only inside a test.
    #[serde(default)]
    pub alone: bool,
    /// The encoding in which it reads its input; UTF-8 if absent.
    #[serde(default)]
    pub reads: Option<Reads>,
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// Authorization of the server. Absent members have the correct value.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// Sends no challenge and no protected-resource metadata.
    #[serde(default)]
    pub mute: bool,
    /// The challenge in the 401.
    pub challenge: Option<String>,
    /// The protected-resource metadata; `$origin` is replaced by the server's origin.
    pub resource: Option<Value>,
    /// The authorization server's metadata.
    pub issuer: Option<Value>,
    /// Accepts any token in these places: `header`, `query`.
    #[serde(default)]
    pub accepts: Vec<String>,
    /// Methods that need no token.
    #[serde(default)]
    pub open: Vec<String>,
    /// HTTP status of a refusal instead of 401.
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

/// Condition for a fault; absent members match every message.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    pub kind: Option<Kind>,
    pub method: Option<String>,
    pub era: Option<String>,
    /// `params.name`, `params.uri` or `params.cursor`.
    pub subject: Option<String>,
    /// Number of the message among those that match the other conditions, counted from 1 per
    /// connection.
    pub nth: Option<usize>,
    /// The same number or a later one.
    pub from: Option<usize>,
    /// Minimum number of earlier messages on the connection.
    pub behind: Option<usize>,
    /// Only the first message of the connection.
    #[serde(default)]
    pub first: bool,
    /// Required values in the message, by JSON pointer.
    #[serde(default)]
    pub equals: BTreeMap<String, Value>,
    /// JSON pointer that must exist in the message.
    pub has: Option<String>,
    /// JSON pointer that must not exist in the message.
    pub lacks: Option<String>,
    /// Required prefixes of strings in the message, by JSON pointer.
    #[serde(default)]
    pub begins: BTreeMap<String, String>,
    /// Error code of the correct answer; an unknown notification counts as -32601.
    pub code: Option<i64>,
    /// Minimum length of the message in bytes.
    pub longer: Option<usize>,
    /// A part of the message's text.
    pub text: Option<String>,
    /// The path of the HTTP request.
    pub path: Option<String>,
    /// The HTTP method.
    pub http: Option<String>,
    /// Required values of request headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Required prefixes of request headers.
    #[serde(default)]
    pub header_begins: BTreeMap<String, String>,
    /// Required parts of request headers.
    #[serde(default)]
    pub header_has: BTreeMap<String, String>,
    /// Request headers that are there with another value.
    #[serde(default)]
    pub header_differs: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The start of the server, before anything was read.
    Start,
    Request,
    Notification,
    Malformed,
    Batch,
    Invalid,
    /// A response of the client.
    Response,
    /// A blank line.
    Blank,
    /// EOF of the input.
    End,
}

/// A wrong encoding of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Each byte is a character, as with the code page of Windows.
    Latin1,
    /// Other characters than ASCII become question marks.
    Ascii,
}

impl Reads {
    pub(super) fn decode(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes(),
            Self::Ascii => {
                let text = String::from_utf8_lossy(bytes);
                text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect::<String>().into_bytes()
            }
        }
    }
}

/// The replacement or change of the correct answer.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the script, and most scripts use one")]
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// The whole message to answer with; `"$id"` is replaced by the id.
    pub answer: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<Value>,
    /// Values to set in the answer, by JSON pointer. The last part of a pointer may be new; `$n`
    /// in a string is replaced by the number of messages.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Values to copy into the answer: pointer in the answer to pointer in the request.
    #[serde(default)]
    pub copy: BTreeMap<String, String>,
    /// Changes the answer's id.
    pub id: Option<IdFault>,
    /// Lists of the answer, by pointer, whose last item is repeated this many times, each with a
    /// different name.
    #[serde(default)]
    pub copies: BTreeMap<String, usize>,
    /// The answer is the text that a vulnerable tool or resource makes of the request.
    pub effect: Option<Effect>,
    /// Strings of the answer, by pointer, that are repeated this many times.
    #[serde(default)]
    pub repeat: BTreeMap<String, usize>,
    /// Parts of the answer to remove, by pointer.
    #[serde(default)]
    pub remove: Vec<String>,
    /// Lines written before the answer; `$id` is replaced by the id, `$answer` by the whole
    /// answer.
    #[serde(default)]
    pub before: Vec<String>,
    /// Lines written after the answer, with the same placeholders.
    #[serde(default)]
    pub after: Vec<String>,
    /// Text that replaces the answer.
    pub raw: Option<String>,
    /// Bytes that replace the answer, in hexadecimal.
    pub hex: Option<String>,
    /// Answers each message of a batch.
    #[serde(default)]
    pub serve_batch: bool,
    /// Encoding of the answer.
    pub written: Option<Written>,
    #[serde(default)]
    pub silence: bool,
    /// Answers no later message.
    #[serde(default)]
    pub deaf: bool,
    #[serde(default)]
    pub delay_ms: u64,
    /// Delays the answer until the next message has arrived.
    #[serde(default)]
    pub hold: bool,
    /// Delays only the end of the answer until the next message has arrived.
    #[serde(default)]
    pub hold_tail: bool,
    /// Exits the process or closes the connection, with this exit status.
    pub exit: Option<i32>,
    /// Does not exit at EOF of its input.
    #[serde(default)]
    pub stay: bool,
    /// Leaves a child process behind that runs for a while; only as a process.
    #[serde(default)]
    pub child: bool,
    /// Before it answers, fetches the URL at this pointer in the message.
    pub fetch: Option<String>,
    /// Continues after the client has disconnected, and blocks every other request meanwhile.
    #[serde(default)]
    pub block: bool,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Replacements of HTTP statuses: from the correct one to another.
    #[serde(default)]
    pub statuses: BTreeMap<u16, u16>,
    /// Headers of the HTTP response; an empty value removes one, `$n` is replaced by the number of
    /// messages.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Answers with an event stream.
    #[serde(default)]
    pub stream: bool,
    /// Answers with an event stream of this text; `$answer` is replaced by the answer.
    pub sse: Option<String>,
    /// Keeps the stream open after the answer.
    #[serde(default)]
    pub linger: bool,
    /// Compresses the body.
    #[serde(default)]
    pub gzip: bool,
    /// Counts `Content-Length` in characters.
    #[serde(default)]
    pub count_characters: bool,
    /// Begins another session for an `initialize` inside a session.
    #[serde(default)]
    pub another_session: bool,
    /// A DELETE ends every session.
    #[serde(default)]
    pub end_all: bool,
    /// Answers no session but the newest.
    #[serde(default)]
    pub newest_only: bool,
    /// Skips all checks of the HTTP request.
    #[serde(default)]
    pub lenient: bool,
    /// Skips only these checks.
    #[serde(default)]
    pub unchecked: Vec<HttpCheck>,
}

/// A check of an HTTP request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HttpCheck {
    Origin,
    Host,
    /// GET requests are refused.
    Get,
    MediaType,
    Version,
    Session,
    /// Modern: the headers match the body.
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
