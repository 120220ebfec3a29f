//! One line of talk: what a message is answered with, faults included.

use super::{Act, Fault, Kind, Script, When, change, model};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// How a message is answered.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) answer: Option<Value>,
    pub(super) act: Act,
    pub(super) id: Value,
    /// The progress token of the request.
    pub(super) token: Value,
    /// The address that is to be fetched first.
    pub(super) fetch: Option<String>,
}

/// What came, as far as the transport knows.
pub(super) struct Heard<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) http: Option<&'a str>,
    pub(super) headers: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) script: Script,
    /// How often each fault's condition was met.
    met: Vec<usize>,
    heard: usize,
    deaf: bool,
}

/// A message as conditions see it.
struct Seen<'a> {
    kind: Kind,
    message: &'a Value,
    /// The error code of the right answer.
    code: Option<i64>,
    heard: &'a Heard<'a>,
}

impl Conversation {
    pub(super) fn new(script: Script) -> Self {
        Self { met: vec![0; script.faults.len()], script, heard: 0, deaf: false }
    }

    /// The answer to some bytes.
    pub(super) fn hear(&mut self, heard: &Heard<'_>) -> Told {
        let parsed: Option<Value> = serde_json::from_slice(heard.bytes).ok();
        let kind = kind_of(parsed.as_ref());
        let message = parsed.unwrap_or(Value::Null);
        let id =
            message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or(Value::Null);
        let right = match kind {
            Kind::Malformed => Some(Err(model::error(-32700, "Parse error"))),
            Kind::Batch | Kind::Invalid => Some(Err(model::error(-32600, "Invalid request"))),
            Kind::Notification => None,
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
        let acts = self.acts(&Seen { kind, message: &message, code, heard });
        self.heard += 1;
        let token = message["params"]["_meta"]["progressToken"].clone();
        let mut told = Told { answer: None, act: Act::default(), id: id.clone(), token, fetch: None };
        for act in acts {
            change::apply(&mut answer, &act, &message, self.heard);
            merge(&mut told.act, act);
        }
        for value in told.act.headers.values_mut() {
            *value = value.replace("$n", &self.heard.to_string());
        }
        told.act.silence |= self.deaf;
        self.deaf |= told.act.deaf;
        if told.act.serve_batch {
            answer = Some(self.batch(&message));
        }
        told.answer = answer;
        let address = told.act.fetch.as_deref().and_then(|pointer| message.pointer(pointer));
        told.fetch = address.and_then(Value::as_str).map(str::to_owned);
        told
    }

    fn batch(&self, batch: &Value) -> Value {
        let answer = |one: &Value| match model::answer(&self.script, one) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": one["id"], "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": one["id"], "error": error}),
        };
        Value::Array(batch.as_array().into_iter().flatten().map(answer).collect())
    }

    /// What happens without a message: at the start, at the end.
    pub(super) fn event(&mut self, kind: Kind) -> Act {
        let heard = Heard { bytes: b"", http: None, headers: BTreeMap::new() };
        let mut all = Act::default();
        for act in self.acts(&Seen { kind, message: &Value::Null, code: None, heard: &heard }) {
            merge(&mut all, act);
        }
        all
    }

    fn acts(&mut self, seen: &Seen<'_>) -> Vec<Act> {
        let mut acts = Vec::new();
        for (met, Fault { when, act }) in self.met.iter_mut().zip(&self.script.faults) {
            if when.behind.is_some_and(|behind| self.heard < behind) || !fits(when, seen) {
                continue;
            }
            *met += 1;
            if when.nth.is_none_or(|nth| nth == *met) {
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
    let Seen { kind, message, code, heard } = *seen;
    let begins = |text: Option<&str>, start: &str| text.is_some_and(|text| text.starts_with(start));
    let params = &message["params"];
    let subject = ["name", "uri", "cursor"].into_iter().find_map(|name| params.get(name)?.as_str());
    let era = if model::is_modern(message) { "modern" } else { "legacy" };
    let default_kind = !matches!(kind, Kind::Start | Kind::End);
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
        && when.longer.is_none_or(|least| heard.bytes.len() >= least)
        && when.http.as_deref().is_none_or(|method| heard.http == Some(method))
        && when.headers.iter().all(|(name, value)| heard.headers.get(name) == Some(value))
        && when
            .header_begins
            .iter()
            .all(|(name, start)| begins(heard.headers.get(name).map(String::as_str), start))
}

/// Puts the second act's doings over the first's.
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
    all.lenient |= act.lenient;
    all.unchecked.extend(act.unchecked);
}

impl Told {
    /// Fetches what the script says, as a tool without any care would.
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

    /// The bytes of the answer as a line would carry them; none for silence.
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
        let text = text.replace("$id", &self.id.to_string()).replace("$token", &self.token.to_string());
        text.replace("$answer", &answer)
    }
}
