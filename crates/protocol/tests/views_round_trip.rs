//! Views are lossless: unknown members inserted into every object of a message are serialized
//! again, digit for digit.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;
use trunkline_protocol::{Raw, message::*};

/// A message as a tree whose leaves keep their text, except that strings are normalized.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Leaf(String),
    List(Vec<Tree>),
    Members(Vec<(String, Tree)>),
}

impl Tree {
    fn read(raw: &Raw) -> Self {
        if let Some(members) = raw.object() {
            return Self::Members(members.iter().map(|(k, v)| (k.to_owned(), Self::read(v))).collect());
        }
        if let Ok(items) = raw.decode::<Vec<Raw>>() {
            return Self::List(items.iter().map(Self::read).collect());
        }
        Self::Leaf(raw.decode::<String>().map_or_else(|_| raw.to_string(), |s| Raw::string(&s).to_string()))
    }

    fn write(&self) -> String {
        match self {
            Self::Leaf(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::write).collect::<Vec<_>>().join(" , "))
            }
            Self::Members(members) => {
                let members: Vec<_> =
                    members.iter().map(|(k, v)| format!("{} : {}", Raw::string(k), v.write())).collect();
                format!("{{ {} }}", members.join(","))
            }
        }
    }

    /// Sorts members, because their order is irrelevant.
    fn sorted(self) -> Self {
        match self {
            Self::Leaf(text) => Self::Leaf(text),
            Self::List(items) => Self::List(items.into_iter().map(Self::sorted).collect()),
            Self::Members(members) => {
                let sorted: BTreeMap<_, _> = members.into_iter().map(|(k, v)| (k, v.sorted())).collect();
                Self::Members(sorted.into_iter().collect())
            }
        }
    }

    /// Inserts an unknown member into every object, except into maps whose members are all of one
    /// type.
    fn plant(&mut self, plants: &mut dyn Iterator<Item = (usize, String)>, map: bool) {
        match self {
            Self::Leaf(_) => {}
            Self::List(items) => items.iter_mut().for_each(|item| item.plant(plants, false)),
            Self::Members(members) => {
                for (name, value) in members.iter_mut() {
                    value.plant(plants, name == "inputRequests");
                }
                if !map {
                    let (at, text) = plants.next().unwrap();
                    let value = Self::read(&Raw::parse(text).unwrap());
                    members.insert(at % (members.len() + 1), (format!("vendor.example/{at}"), value));
                }
            }
        }
    }
}

fn raw(text: impl Into<String>) -> Raw {
    Raw::parse(text.into()).unwrap()
}

fn planted(text: &str, plants: &[(usize, String)]) -> Raw {
    let mut tree = Tree::read(&raw(text));
    tree.plant(&mut plants.iter().cloned().cycle(), false);
    raw(tree.write())
}

/// Checks that reading and writing changes nothing, and returns the view for further checks.
fn survives<T: DeserializeOwned + Serialize>(message: &Raw) -> T {
    let view: T = message.decode().unwrap_or_else(|e| panic!("{e}: {message}"));
    let written = Raw::encode(&view).unwrap();
    assert_eq!(Tree::read(&raw(written.to_string())).sorted(), Tree::read(message).sorted());
    view
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        Just("9007199254740993".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        any::<String>().prop_map(|s| Raw::string(&s).to_string()),
        Just(r#""\u0041\/\ud83d\ude00""#.to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::btree_map("[a-zA-Z$_/.]{0,8}", inner, 0..3).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn any_plants() -> impl Strategy<Value = Vec<(usize, String)>> {
    prop::collection::vec((0..20_usize, any_json()), 1..8)
}

const INITIALIZE: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},
    "sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},
    "tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}},
    "extensions":{"com.example/x":{"a":1}},"experimental":{"y":{}}},
    "clientInfo":{"name":"c","version":"1","title":"C","icons":[{"src":"data:,","mimeType":"image/png","sizes":["any"],"theme":"dark"}],
    "websiteUrl":"https://example.com","description":"d"},"_meta":{"k":[1.50]}}"#;

const INITIALIZED: &str = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":false},
    "resources":{"subscribe":true,"listChanged":true},"prompts":{},"completions":{},"logging":{},
    "tasks":{"requests":{"tools":{"call":{}}}},"extensions":{},"experimental":{}},
    "serverInfo":{"name":"s","version":"0"},"instructions":"i"}"#;

const DISCOVER: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
    "instructions":"i","ttlMs":3600000,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;

const TOOLS: &str = r#"{"tools":[{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"a":{"minimum":9007199254740993}}},
    "outputSchema":{"type":"array"},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},
    "icons":[{"src":"s"}],"execution":{"taskSupport":"optional"},"_meta":{"ui":{"resourceUri":"ui://x"}}},
    {"name":"u","inputSchema":{}}],"nextCursor":"","ttlMs":0,"cacheScope":"private","resultType":"complete","_meta":{}}"#;

const CALLED: &str = r#"{"resultType":"complete","content":[
    {"type":"text","text":"a","annotations":{"audience":["user","assistant"],"priority":0.50,"lastModified":"2025-01-12T15:00:58Z"},"_meta":{}},
    {"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},
    {"type":"resource_link","uri":"file:///a","name":"a","title":"A","size":12345678901234567890123,"icons":[]},
    {"type":"resource","resource":{"uri":"file:///a","text":"t","mimeType":"text/plain"}},
    {"type":"resource","resource":{"uri":"file:///a","blob":"AA==","_meta":{}}},
    {"type":"tool_use","id":"1","name":"n","input":{"x":1.0}},
    {"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"b"}],"structuredContent":null,"isError":true}],
    "structuredContent":{"n":123456789012345678901234567890},"isError":false,"_meta":{}}"#;

const TASK: &str = r#"{"task":{"taskId":"t","status":"working","statusMessage":"m","createdAt":"c","lastUpdatedAt":"l","ttl":null,"pollInterval":5e3},"_meta":{}}"#;

const EXTENSION_TASK: &str = r#"{"resultType":"task","taskId":"t","status":"input_required","createdAt":"c","lastUpdatedAt":"l","ttlMs":60000,
    "pollIntervalMs":1000,"inputRequests":{"z":{"method":"roots/list"},"a":{"method":"elicitation/create","params":{"message":"m"}}},
    "result":{"content":[]},"error":{"code":-32603,"message":"e","data":{}}}"#;

const FORM: &str = r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}},"task":{"ttl":1.0},"_meta":{}}"#;
const URL: &str = r#"{"mode":"url","message":"m","url":"https://example.com/?a=1","elicitationId":"e"}"#;

const SAMPLE: &str = r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}],"_meta":{}}],
    "maxTokens":100,"modelPreferences":{"hints":[{"name":"h"}],"costPriority":0,"speedPriority":1.0,"intelligencePriority":0.5},"systemPrompt":"s",
    "includeContext":"none","temperature":0.10,"stopSequences":["x"],"metadata":{},"tools":[{"name":"n","inputSchema":{}}],"toolChoice":{"mode":"auto"}}"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn lifecycle_messages_survive(plants in any_plants()) {
        survives::<InitializeParams>(&planted(INITIALIZE, &plants));
        survives::<InitializeResult>(&planted(INITIALIZED, &plants));
        survives::<DiscoverResult>(&planted(DISCOVER, &plants));
    }

    #[test]
    fn tool_lists_survive(plants in any_plants()) {
        let list = survives::<ListToolsResult>(&planted(TOOLS, &plants));
        let (tools, bad) = list.items();
        prop_assert_eq!((tools.len(), bad), (2, Vec::new()));
        for item in &list.tools {
            survives::<Tool>(item);
        }
    }

    #[test]
    fn tool_results_survive(plants in any_plants()) {
        let result = survives::<CallToolResult>(&planted(CALLED, &plants));
        prop_assert!(!result.blocks().iter().any(|b| matches!(b, ContentBlock::Unknown(_))));
    }

    #[test]
    fn both_forms_of_tasks_survive(plants in any_plants()) {
        survives::<CreateTaskResult>(&planted(TASK, &plants));
        let task = survives::<ExtensionTask>(&planted(EXTENSION_TASK, &plants));
        let keys: Vec<_> = task.input_requests.as_ref().unwrap().iter().map(|(k, _)| k).collect();
        prop_assert_eq!(keys, ["z", "a"]);
    }

    #[test]
    fn questions_survive(plants in any_plants()) {
        survives::<FormParams>(&planted(FORM, &plants));
        survives::<UrlParams>(&planted(URL, &plants));
        survives::<ElicitResult>(&planted(r#"{"action":"accept","content":{"a":1e2}}"#, &plants));
        survives::<CreateMessageParams>(&planted(SAMPLE, &plants));
        let reply = r#"{"role":"assistant","content":[],"model":"m","stopReason":"endTurn"}"#;
        survives::<CreateMessageResult>(&planted(reply, &plants));
        let needed = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list","params":{}}},"requestState":"s"}"#;
        survives::<InputRequired>(&planted(needed, &plants));
        survives::<ListRootsResult>(&planted(r#"{"roots":[{"uri":"file:///","name":"n"}]}"#, &plants));
    }

    #[test]
    fn the_other_areas_survive(plants in any_plants()) {
        let call = r#"{"name":"t","arguments":{"a":1.0},"task":{"ttl":60000},"inputResponses":{"k":{"action":"decline"}},"requestState":"","_meta":{"progressToken":"p"}}"#;
        survives::<CallToolParams>(&planted(call, &plants));
        survives::<Resource>(&planted(r#"{"uri":"a:b","name":"n","size":1,"annotations":{},"icons":[{"src":"s"}]}"#, &plants));
        survives::<ResourceTemplate>(&planted(r#"{"uriTemplate":"a:{b}","name":"n"}"#, &plants));
        survives::<ReadResourceResult>(&planted(r#"{"contents":[{"uri":"a:b","text":""}],"ttlMs":1}"#, &plants));
        survives::<Prompt>(&planted(r#"{"name":"p","arguments":[{"name":"a","required":true}]}"#, &plants));
        let prompt = r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}}]}"#;
        survives::<GetPromptResult>(&planted(prompt, &plants));
        let complete = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"c"}}}"#;
        survives::<CompleteParams>(&planted(complete, &plants));
        survives::<CompleteResult>(&planted(r#"{"completion":{"values":["a"],"total":10,"hasMore":true}}"#, &plants));
        survives::<ProgressParams>(&planted(r#"{"progressToken":7,"progress":1,"total":10,"message":"m"}"#, &plants));
        survives::<CancelledParams>(&planted(r#"{"requestId":123456789012345678901234567890,"reason":"r"}"#, &plants));
        survives::<LogParams>(&planted(r#"{"level":"info","logger":"l","data":{"a":[]}}"#, &plants));
        let listen = r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t"]}}"#;
        survives::<ListenParams>(&planted(listen, &plants));
        let meta = r#"{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}"#;
        survives::<RequestMeta>(&planted(meta, &plants));
    }
}

#[test]
fn numbers_stay_as_they_were_written() {
    let text = r#"{"progressToken":7,"progress":1,"total":10}"#;
    assert_eq!(Raw::encode(&raw(text).decode::<ProgressParams>().unwrap()).unwrap().as_str(), text);
}

#[test]
fn a_member_that_a_library_uses_inside_is_a_member_like_any_other() {
    let text = r#"{"uri":"a:b","$serde_json::private::RawValue":"1","$serde_json::private::Number":"2"}"#;
    assert_eq!(survives::<Root>(&raw(text)).rest.len(), 2);
}
