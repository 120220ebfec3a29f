//! One connection to the faulty server: determines the answer to each message, faults included.

use super::{Act, Fault, Kind, Script, When, change, model};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The answer to a message, and the faults that apply to it.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) answer: Option<Value>,
    pub(super) act: Act,
    pub(super) id: Value,
    /// The progress token of the request.
    pub(super) token: Value,
    /// URL to fetch before answering.
    pub(super) fetch: Option<String>,
}

/// A message as the transport received it.
pub(super) struct Received<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) http: Option<&'a str>,
    pub(super) path: &'a str,
    pub(super) headers: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) script: Script,
    /// Number of messages that matched each fault's condition.
    met: Vec<usize>,
    received: usize,
    silenced: bool,
}

/// The properties of a message that conditions test.
struct Seen<'a> {
    kind: Kind,
    message: &'a Value,
    /// Error code of the correct answer.
    code: Option<i64>,
    received: &'a Received<'a>,
}

impl Conversation {
    pub(super) fn new(script: Script) -> Self {
        Self { met: vec![0; script.faults.len()], script, received: 0, silenced: false }
    }

    /// Returns the answer to a message.
    pub(super) fn reply_to(&mut self, received: &Received<'_>) -> Reply {
        let decoded = self.script.reads.map(|reads| reads.decode(received.bytes));
        let bytes = decoded.as_deref().unwrap_or(received.bytes);
        let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
        let kind = kind_of(parsed.as_ref());
        let message = parsed.unwrap_or(Value::Null);
        let id =
            message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or(Value::Null);
        let right = match kind {
            Kind::Malformed => Some(Err(model::error(-32700, "Parse error"))),
            Kind::Batch | Kind::Invalid => Some(Err(model::error(-32600, "Invalid request"))),
            Kind::Notification | Kind::Response => None,
            _ => Some(model::answer(&self.script, &message)),
        };
        let mut answer = right.map(|right| match right {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        });
        let code = match &answer {
            Some(answer) => answer["error"]["code"].as_i64(),
            None => model::is_unknown_notification(&message).then_some(-32601),
        };
        let acts = self.acts(&Seen { kind, message: &message, code, received });
        self.received += 1;
        let token = message["params"]["_meta"]["progressToken"].clone();
        let mut reply = Reply { answer: None, act: Act::default(), id: id.clone(), token, fetch: None };
        for act in acts {
            change::apply(&mut answer, &act, &message, self.received);
            merge(&mut reply.act, act);
        }
        for value in reply.act.headers.values_mut() {
            *value = value.replace("$n", &self.received.to_string());
        }
        reply.act.silence |= self.silenced;
        self.silenced |= reply.act.deaf;
        if reply.act.serve_batch {
            answer = Some(self.batch(&message));
        }
        reply.answer = answer;
        let address = reply.act.fetch.as_deref().and_then(|pointer| message.pointer(pointer));
        reply.fetch = address.and_then(Value::as_str).map(str::to_owned);
        reply
    }

    fn batch(&self, batch: &Value) -> Value {
        let answer = |one: &Value| match model::answer(&self.script, one) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": one["id"], "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": one["id"], "error": error}),
        };
        Value::Array(batch.as_array().into_iter().flatten().map(answer).collect())
    }

    /// Returns the faults of an event that is not a message: start or end.
    pub(super) fn event(&mut self, kind: Kind) -> Act {
        let received = Received { bytes: b"", http: None, path: "", headers: BTreeMap::new() };
        let mut all = Act::default();
        for act in self.acts(&Seen { kind, message: &Value::Null, code: None, received: &received }) {
            merge(&mut all, act);
        }
        all
    }

    fn acts(&mut self, seen: &Seen<'_>) -> Vec<Act> {
        let mut acts = Vec::new();
        for (met, Fault { when, act }) in self.met.iter_mut().zip(&self.script.faults) {
            let early = when.behind.is_some_and(|behind| self.received < behind);
            if early || (when.first && self.received > 0) || !fits(when, seen) {
                continue;
            }
            *met += 1;
            if when.nth.is_none_or(|nth| nth == *met) && when.from.is_none_or(|from| from <= *met) {
                acts.push(act.clone());
            }
        }
        acts
    }
}

fn kind_of(message: Option<&Value>) -> Kind {
    match message {
        None => Kind::Malformed,
        Some(Value::Array(_)) => Kind::Batch,
        Some(Value::Object(members)) => {
            let answer = members.contains_key("result") || members.contains_key("error");
            if answer && !members.contains_key("method") && members.contains_key("id") {
                return Kind::Response;
            }
            let right = members.get("jsonrpc").is_some_and(|it| it == "2.0")
                && members.get("method").is_some_and(Value::is_string)
                && members.get("params").is_none_or(Value::is_object);
            match members.get("id") {
                _ if !right => Kind::Invalid,
                None => Kind::Notification,
                Some(Value::String(_) | Value::Number(_)) => Kind::Request,
                Some(_) => Kind::Invalid,
            }
        }
        Some(_) => Kind::Invalid,
    }
}

fn fits(when: &When, seen: &Seen<'_>) -> bool {
    let Seen { kind, message, code, received } = *seen;
    let begins = |text: Option<&str>, start: &str| text.is_some_and(|text| text.starts_with(start));
    let params = &message["params"];
    let subject = ["name", "uri", "cursor"].into_iter().find_map(|name| params.get(name)?.as_str());
    let era = if model::is_modern(message) { "modern" } else { "legacy" };
    let header = |name: &String| received.headers.get(name).map(String::as_str);
    let default_kind = !matches!(kind, Kind::Start | Kind::Blank | Kind::End);
    when.kind.map_or(default_kind, |wanted| wanted == kind)
        && when.method.as_deref().is_none_or(|method| message["method"] == method)
        && when.era.as_deref().is_none_or(|wanted| wanted == era)
        && when.subject.as_deref().is_none_or(|wanted| subject == Some(wanted))
        && when.has.as_deref().is_none_or(|pointer| message.pointer(pointer).is_some())
        && when.lacks.as_deref().is_none_or(|pointer| message.pointer(pointer).is_none())
        && when.equals.iter().all(|(pointer, value)| message.pointer(pointer) == Some(value))
        && when
            .begins
            .iter()
            .all(|(pointer, start)| begins(message.pointer(pointer).and_then(Value::as_str), start))
        && when.code.is_none_or(|wanted| code == Some(wanted))
        && when.longer.is_none_or(|least| received.bytes.len() >= least)
        && when.http.as_deref().is_none_or(|method| received.http == Some(method))
        && when.headers.iter().all(|(name, value)| received.headers.get(name) == Some(value))
        && when.header_begins.iter().all(|(name, start)| begins(header(name), start))
        && when.header_has.iter().all(|(name, part)| header(name).is_some_and(|it| it.contains(part)))
        && when.header_differs.iter().all(|(name, value)| header(name).is_some_and(|it| it != value))
        && when.path.as_deref().is_none_or(|path| received.path == path)
        && when.text.as_deref().is_none_or(|part| String::from_utf8_lossy(received.bytes).contains(part))
}

/// Adds the effects of `act` to `all`; for single values, `act` wins.
fn merge(all: &mut Act, act: Act) {
    all.before.extend(act.before);
    all.after.extend(act.after);
    all.raw = act.raw.or(all.raw.take());
    all.hex = act.hex.or(all.hex.take());
    all.written = act.written.or(all.written);
    all.silence |= act.silence;
    all.deaf |= act.deaf;
    all.serve_batch |= act.serve_batch;
    all.delay_ms = all.delay_ms.max(act.delay_ms);
    all.hold |= act.hold;
    all.hold_tail |= act.hold_tail;
    all.exit = act.exit.or(all.exit);
    all.stay |= act.stay;
    all.child |= act.child;
    all.fetch = act.fetch.or(all.fetch.take());
    all.block |= act.block;
    all.status = act.status.or(all.status);
    all.statuses.extend(act.statuses);
    all.headers.extend(act.headers);
    all.stream |= act.stream;
    all.linger |= act.linger;
    all.sse = act.sse.or(all.sse.take());
    all.gzip |= act.gzip;
    all.count_characters |= act.count_characters;
    all.another_session |= act.another_session;
    all.end_all |= act.end_all;
    all.newest_only |= act.newest_only;
    all.lenient |= act.lenient;
    all.unchecked.extend(act.unchecked);
}

impl Reply {
    /// Fetches the script's URL without any check, as a tool vulnerable to SSRF would.
    pub(super) async fn fetch(&self) {
        let Some((host, path)) =
            self.fetch.as_deref().and_then(|it| it.strip_prefix("http://")?.split_once('/'))
        else {
            return;
        };
        let Ok(mut stream) = TcpStream::connect(host).await else { return };
        let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.ok();
        stream.read_to_end(&mut Vec::new()).await.ok();
    }

    /// Returns the bytes of the answer, without a newline; `None` if there is no answer.
    pub(super) fn text(&self) -> Option<Vec<u8>> {
        if self.act.silence {
            return None;
        }
        if let Some(hex) = &self.act.hex {
            let digits = hex.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap_or("00"));
            return Some(digits.map(|two| u8::from_str_radix(two, 16).unwrap_or(0)).collect());
        }
        match (&self.act.raw, self.act.written) {
            (Some(raw), _) => Some(self.filled(raw).into_bytes()),
            (None, Some(written)) => self.answer.as_ref().map(|answer| written.bytes(answer)),
            (None, None) => self.answer.as_ref().map(|answer| answer.to_string().into_bytes()),
        }
    }

    pub(super) fn filled(&self, text: &str) -> String {
        let answer = self.answer.as_ref().map(Value::to_string).unwrap_or_default();
        let token = self.token.as_str().map_or_else(|| self.token.to_string(), str::to_owned);
        let text = text.replace("$token-text", &Value::from(token).to_string());
        let text = text.replace("$id", &self.id.to_string()).replace("$token", &self.token.to_string());
        text.replace("$answer", &answer)
    }
}
