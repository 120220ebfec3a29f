//! Compares messages sent directly with those sent through the gateway: only the differences in
//! `docs/rewrites.md` are allowed.

use super::{
    client,
    fake::{Fake, Lists},
    gateway, raw,
};
use crate::catalog::{ItemRules, KindRules, Rules, ServerRules};
use serde_json::json;
use std::{collections::BTreeSet, sync::Arc};
use trunkline_protocol::{Call, Handler, Object, Raw, Reply, method::*};

const TABLE: &str = include_str!("../../../../../docs/rewrites.md");

/// One row: side, method, path.
struct Row {
    side: &'static str,
    method: &'static str,
    path: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let mut cell = || cells.next().expect("a row has five cells");
        let (side, method, path) = (cell(), cell(), cell());
        Row { side, method, path: path.split('/').filter(|part| !part.is_empty()).collect() }
    };
    TABLE.lines().filter(|line| line.starts_with("| →")).map(row).collect()
}

/// Collects the paths at which two messages differ, comparing the raw text.
fn differences(one: &Raw, other: &Raw, path: &str, found: &mut BTreeSet<String>) {
    if one == other {
        return;
    }
    if let (Some(one), Some(other)) = (one.object(), other.object()) {
        let names: BTreeSet<&str> = one.iter().chain(other.iter()).map(|(name, _)| name).collect();
        for name in names {
            let below = format!("{path}/{}", name.replace('/', "~1"));
            match (one.get(name), other.get(name)) {
                (Some(one), Some(other)) => differences(one, other, &below, found),
                _ => drop(found.insert(below)),
            }
        }
        return;
    }
    let list = |raw: &Raw| raw.decode::<Vec<Raw>>().ok();
    match (list(one), list(other)) {
        (Some(one), Some(other)) if one.len() == other.len() => {
            for (one, other) in one.iter().zip(&other) {
                differences(one, other, &format!("{path}/*"), found);
            }
        }
        _ => drop(found.insert(path.to_owned())),
    }
}

/// Fails on a difference that no row permits; returns the differences.
fn check(side: &str, method: &str, (one, other): (&Raw, &Raw)) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    differences(one, other, "", &mut found);
    let rows = rows();
    let about = |row: &&Row| {
        row.side == side
            && (row.method == method
                || row.method == "every message of a server with tasks"
                || (row.method == "every list" && method.ends_with("/list") && method != TASKS_LIST))
    };
    for place in &found {
        let parts: Vec<&str> = place.split('/').skip(1).collect();
        // A row about the whole message is for the gateway's own answers and permits no
        // difference in a server's.
        let permitted = rows
            .iter()
            .filter(about)
            .filter(|row| !row.path.is_empty())
            .any(|row| parts.starts_with(&row.path));
        assert!(permitted, "{side} {method}: `{place}` differs, and no row permits it\n{one}\n{other}");
    }
    found
}

/// Unknown members, put into every object.
const ODD: &str = r#""x-odd":{"n":1.50,"big":123456789012345678901234567890,"name":"a_add","uri":"file:///x","taskId":"t1"}"#;

fn lists() -> Lists {
    let item = |text: &str| {
        raw(&format!("{{{text},{ODD},\"_meta\":{{{ODD}}},\"icons\":[{{\"src\":\"data:,\",{ODD}}}]}}"))
    };
    Lists {
        capabilities: json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "extensions": {"io.modelcontextprotocol/tasks": {"x": 1.5}}}),
        instructions: Some("Be kind."),
        tools: vec![
            item(r#""name":"add","description":"d","inputSchema":{"type":"object"},"annotations":{"k":1.0}"#),
            item(
                r#""name":"late","inputSchema":{"type":"object","properties":{"a":{"x-mcp-header":"","k":1.0}}}"#,
            ),
        ],
        prompts: vec![item(r#""name":"hello","arguments":[{"name":"who","k":1.0}]"#)],
        resources: vec![item(r#""uri":"file:///x","name":"x""#), item(r#""uri":"db:1","name":"y""#)],
        templates: vec![item(r#""uriTemplate":"note://{id}","name":"n""#)],
        ..Lists::default()
    }
}

/// The server's result for each method.
fn result(call: &Call) -> Raw {
    let links = format!(
        r#"[{{"type":"resource_link","uri":"file:///x","name":"n",{ODD}}},{{"type":"resource","resource":{{"uri":"note://1","text":"file:///x",{ODD}}},{ODD}}},{{"type":"odd","uri":"file:///x"}}]"#
    );
    let late = call.params.as_ref().unwrap().as_str().contains("\"late\"");
    raw(&match call.method.as_ref() {
        TOOLS_CALL if late => {
            format!(r#"{{"resultType":"task","taskId":"t1","status":"working",{ODD},"_meta":{{{ODD}}}}}"#)
        }
        TOOLS_CALL => {
            format!(r#"{{"content":{links},"structuredContent":{{{ODD}}},{ODD},"_meta":{{{ODD}}}}}"#)
        }
        PROMPTS_GET => format!(
            r#"{{"messages":[{{"role":"user","content":{{"type":"resource_link","uri":"file:///x",{ODD}}},{ODD}}}],{ODD},"_meta":{{{ODD}}}}}"#
        ),
        RESOURCES_READ => {
            format!(r#"{{"contents":[{{"uri":"file:///x","text":"t",{ODD}}}],{ODD},"ttlMs":5}}"#)
        }
        TASKS_GET => {
            format!(r#"{{"taskId":"t1","status":"completed","result":{{"content":{links},{ODD}}},{ODD}}}"#)
        }
        _ => format!(
            r#"{{"completion":{{"values":["a"],{ODD}}},{ODD},"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"t1",{ODD}}}}}}}"#
        ),
    })
}

fn wrapped(member: &'static str, payload: Raw) -> Raw {
    let mut message = Object::new();
    message.set(member, payload);
    message.to_raw()
}

#[tokio::test]
async fn every_difference_has_its_row() {
    let described = ItemRules {
        description: Some("better".to_owned()),
        annotations: [("readOnlyHint".to_owned(), raw("true"))].into_iter().collect(),
        ..ItemRules::default()
    };
    let tools = KindRules { items: vec![("add".to_owned(), described)], ..KindRules::default() };
    let rules = Rules {
        servers: [("b".parse().unwrap(), ServerRules { tools, ..ServerRules::default() })].into(),
        ..Rules::default()
    };
    let answering = |name: &str, stale| {
        Fake::new(name, Lists { stale, ..lists() }).answers(|call| Reply::ready(Ok(result(call))))
    };
    let (a, b) = (answering("a", false), answering("b", true));
    let gateway = gateway(&[&a, &b], rules);
    let task = gateway.inner.shared.ids.seal("local", "b_late", "t1");
    let more = format!(
        r#""arguments":{{"name":"b_add",{ODD}}},"_meta":{{"traceparent":"00-1","tracestate":"x",{ODD}}},{ODD}"#
    );
    let mut seen = BTreeSet::new();
    for (method, params) in [
        (TOOLS_CALL, r#""name":"b_add""#.to_owned()),
        (TOOLS_CALL, r#""name":"b_late""#.to_owned()),
        (PROMPTS_GET, r#""name":"b_hello""#.to_owned()),
        (RESOURCES_READ, r#""uri":"trunkline:b/file:///x""#.to_owned()),
        (COMPLETE, r#""ref":{"type":"ref/prompt","name":"b_hello","k":1.0},"argument":{"name":"who","value":""}"#.to_owned()),
        (COMPLETE, r#""ref":{"type":"ref/resource","uri":"trunkline:b/note://{id}","k":1.0},"argument":{"name":"id","value":""}"#.to_owned()),
        (TASKS_GET, format!(r#""taskId":"{task}""#)),
    ] {
        let params = raw(&format!("{{ {params} ,{more}}}"));
        let through = gateway.call(Call::new(method, Some(params.clone()))).outcome().await.unwrap();
        let reached = b.calls().pop().unwrap();
        let asked = (wrapped("params", params), wrapped("params", reached.params.clone().unwrap()));
        seen.extend(check("→ server", method, (&asked.0, &asked.1)));
        let answered = (wrapped("result", result(&reached)), wrapped("result", through));
        seen.extend(check("→ client", method, (&answered.0, &answered.1)));
    }
    for place in [
        "/params/name",
        "/params/uri",
        "/params/ref/name",
        "/params/ref/uri",
        "/params/taskId",
        "/result/taskId",
        "/result/content/*/uri",
        "/result/content/*/resource/uri",
        "/result/messages/*/content/uri",
        "/result/contents/*/uri",
    ] {
        assert!(seen.contains(place), "{place} was to differ: {seen:?}");
    }
}

#[tokio::test]
async fn every_difference_of_a_list_has_its_row() {
    let (a, b) = (Fake::new("a", lists()), Fake::new("b", Lists { stale: true, ..lists() }));
    let gateway = gateway(&[&a, &b], Rules::default());
    let offer = crate::gateway::Source::offer(a.as_ref()).unwrap();
    for (method, member, items) in [
        (TOOLS_LIST, "tools", &offer.tools),
        (PROMPTS_LIST, "prompts", &offer.prompts),
        (RESOURCES_LIST, "resources", &offer.resources),
        (RESOURCES_TEMPLATES, "resourceTemplates", &offer.templates),
    ] {
        let list = |items: &[Raw]| wrapped("result", wrapped(member, Raw::array(items)));
        let twice: Vec<Raw> = items.iter().chain(items.iter()).cloned().collect();
        for (view, direct) in
            [(None, list(&twice)), (Some("server/a"), list(items)), (Some("server/b"), list(items))]
        {
            let mut asking = client();
            asking.view = view.map(Into::into);
            let through = asking.ask(&gateway, method, json!({})).await.unwrap();
            let found = check("→ client", method, (&direct, &wrapped("result", through)));
            assert_eq!(
                found.iter().any(|place| place.contains("stale")),
                view != Some("server/a"),
                "{found:?}"
            );
        }
    }
    let alone = client().at("server/a").ask(&gateway, DISCOVER, json!({})).await.unwrap();
    assert_eq!(alone, offer.introduction);
    drop(Arc::clone(&a));
}

#[test]
#[should_panic(expected = "no row permits it")]
fn a_difference_without_a_row_is_found() {
    let other = raw(r#"{"result":{"content":[],"x-odd":{"n":1.5}}}"#);
    check("→ client", TOOLS_CALL, (&raw(r#"{"result":{"content":[],"x-odd":{"n":1.50}}}"#), &other));
}
