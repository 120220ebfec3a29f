//! Questions of a server during a call, in the form of either era, and the answers to them.

use super::exchange::ODD;
use serde_json::{Value, value::RawValue};
use std::collections::BTreeMap;

type Members = BTreeMap<String, Box<RawValue>>;

/// The answer to the question of this method; the same in both eras.
fn answer(question: &Value) -> String {
    match question["method"].as_str().unwrap() {
        "sampling/createMessage" => format!(
            r#"{{"role":"assistant","content":{{"type":"text","text":"\u00fc\/","vendor":1.0}},"model":"m","stopReason":"endTurn",{ODD}}}"#
        ),
        "roots/list" => format!(r#"{{"roots":[{{"uri":"file:///r%20s","name":"r",{ODD}}}],{ODD}}}"#),
        "elicitation/create" if question["params"]["mode"] == "url" => {
            format!(r#"{{"action":"accept",{ODD}}}"#)
        }
        "elicitation/create" => format!(r#"{{"action":"accept","content":{{"n":1.50}},{ODD}}}"#),
        other => panic!("{other} is no question"),
    }
}

/// The response to a question of a legacy server.
pub(crate) fn reply(question: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, question["id"], answer(question))
}

/// The call again under another id, with the answers to the questions of an incomplete result.
pub(crate) fn retry(call: &str, id: &Value, result: &RawValue) -> String {
    let members = read(result).unwrap();
    let questions: BTreeMap<String, Value> = serde_json::from_str(members["inputRequests"].get()).unwrap();
    let answers: Vec<String> =
        questions.iter().map(|(key, question)| format!(r#""{key}":{}"#, answer(question))).collect();
    let more = format!(
        r#","requestState":{},"inputResponses":{{{}}}}}}}"#,
        members["requestState"],
        answers.join(",")
    );
    let first: Value = serde_json::from_str(call).unwrap();
    let again = format!(r#""id":"{}+""#, id.as_str().unwrap());
    let call = call.replacen(&format!(r#""id":{}"#, first["id"]), &again, 1);
    format!("{}{more}", call.strip_suffix("}}").unwrap())
}

/// Writes the questions of both eras alike, so that a client of one era and a server of the other
/// can be compared. Only the legacy era says that a visit counted.
pub(crate) fn without_form(heard: Vec<String>) -> Vec<String> {
    let mut alike = Vec::new();
    for line in heard {
        let message: Members = serde_json::from_str(&line).unwrap();
        let asked = message.get("result").and_then(|result| read(result)?.remove("inputRequests"));
        match (asked, message.contains_key("method")) {
            (Some(asked), _) => {
                alike.extend(read(&asked).unwrap().values().map(|it| plain(&read(it).unwrap())));
            }
            (None, true) if message.contains_key("id") => alike.push(plain(&message)),
            (None, true) if message["method"].get().contains("elicitation/complete") => {}
            (None, _) => alike.push(line),
        }
    }
    alike
}

fn plain(question: &Members) -> String {
    format!(r#"{{"method":{},"params":{}}}"#, question["method"], question["params"])
}

/// The value of one member of a message as it is spelt.
pub(crate) fn member(line: &str, name: &str) -> Option<Box<RawValue>> {
    serde_json::from_str::<Members>(line).ok()?.remove(name)
}

fn read(value: &RawValue) -> Option<Members> {
    serde_json::from_str(value.get()).ok()
}
