//! The steps for each server and their expected results. A feature that a server lacks is `None`.

use crate::{
    cell::{Cell, Server},
    recorder::{MODEL, NAME, SAID},
};
use serde_json::{Value, json};
use trunkline_protocol::{Object, Raw};

/// The steps for one server.
#[derive(Default)]
pub(crate) struct Script {
    /// Tools that must be listed.
    pub(crate) tools: &'static [&'static str],
    pub(crate) resource: Option<&'static str>,
    pub(crate) template: Option<&'static str>,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) call: Call,
    /// A call and its expected structured content.
    pub(crate) structured: Option<(Call, Value)>,
    /// A text that the resource contains.
    pub(crate) read: Option<&'static str>,
    pub(crate) complete: Option<Complete>,
    pub(crate) progress: Option<Progress>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) questions: Vec<Call>,
    pub(crate) log: Option<Log>,
    /// A call that changes the resource.
    pub(crate) update: Option<Call>,
    /// A call that adds a tool, and the tool.
    pub(crate) growth: Option<(Call, &'static str)>,
}

/// Folders and URLs that a script uses.
#[derive(Default)]
pub(crate) struct Setting {
    /// The server's folder, and the same folder as the client's root URI.
    pub(crate) folder: String,
    pub(crate) root: String,
    /// URL of a page that responds, and of one that never does.
    pub(crate) page: String,
    pub(crate) silent: String,
}

/// A call and a text that its result contains.
#[derive(Default, Clone)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) says: String,
}

pub(crate) struct Prompt {
    pub(crate) name: &'static str,
    pub(crate) argument: (&'static str, String),
    pub(crate) says: String,
}

/// A completion of an argument of a prompt.
pub(crate) struct Complete {
    pub(crate) prompt: &'static str,
    pub(crate) argument: &'static str,
    pub(crate) begun: &'static str,
    pub(crate) values: &'static [&'static str],
}

pub(crate) struct Progress {
    pub(crate) call: Call,
    pub(crate) steps: u32,
}

/// A long call, and how the test checks that the server cancelled it.
pub(crate) struct Cancel {
    pub(crate) call: Call,
    pub(crate) proof: Proof,
}

pub(crate) enum Proof {
    /// The server counts cancelled calls; this call waits for the count.
    Counted(Call),
    /// The server continues to the last step but sends no response.
    Unanswered { last_step: u32 },
    /// The server closes its connection to the web site that it was reading from.
    HungUp,
}

pub(crate) enum Log {
    /// The tool logs a text once at each level.
    EachLevel(Call),
    /// The tool switches a log of random levels on and off.
    Random(Call),
}

impl Call {
    pub(crate) fn new(tool: &'static str, arguments: Value, says: impl Into<String>) -> Self {
        Self { tool, arguments, says: says.into() }
    }

    pub(crate) fn arguments(&self) -> Object {
        Raw::from(self.arguments.clone()).object().unwrap_or_default()
    }
}

impl Script {
    pub(crate) fn of(cell: Cell, setting: &Setting) -> Self {
        match cell.server {
            Server::Everything => everything(&setting.root),
            Server::Filesystem => filesystem(&setting.folder),
            Server::Memory => memory(),
            Server::Git => git(&setting.folder),
            Server::Time => time(),
            Server::Fetch => fetch(setting),
            Server::FastMcp => fastmcp(&setting.root),
            Server::Rmcp => rmcp(&setting.root),
        }
    }
}

fn everything(root: &str) -> Script {
    const LASTING: &str = "trigger-long-running-operation";
    let steps = |duration: f64, steps: u32| json!({"duration": duration, "steps": steps});
    let weather = json!({"temperature": 33, "conditions": "Cloudy", "humidity": 82});
    Script {
        tools: &["echo", "get-sum", "get-structured-content", LASTING, "simulate-research-query"],
        resource: Some("demo://resource/static/document/architecture.md"),
        template: Some("demo://resource/dynamic/text/{resourceId}"),
        prompt: Some(Prompt {
            name: "args-prompt",
            argument: ("city", "Ulm".into()),
            says: "weather in Ulm".into(),
        }),
        call: Call::new("echo", json!({"message": "grüße 🦀"}), "grüße 🦀"),
        structured: Some((Call::new("get-structured-content", json!({"location": "New York"}), ""), weather)),
        read: Some("Architecture"),
        complete: Some(Complete {
            prompt: "completable-prompt",
            argument: "department",
            begun: "S",
            values: &["Sales", "Support"],
        }),
        progress: Some(Progress { call: Call::new(LASTING, steps(0.3, 3), "completed"), steps: 3 }),
        cancel: Some(Cancel {
            call: Call::new(LASTING, steps(1.0, 2), ""),
            proof: Proof::Unanswered { last_step: 2 },
        }),
        questions: vec![
            Call::new("trigger-elicitation-request", json!({}), format!("Name: {NAME}")),
            Call::new("trigger-sampling-request", json!({"prompt": "?"}), SAID),
            Call::new("get-roots-list", json!({}), root),
            Call::new("trigger-url-elicitation", json!({"url": "https://example.com/"}), "completed"),
        ],
        log: Some(Log::Random(Call::new("toggle-simulated-logging", json!({}), "simulated"))),
        update: Some(Call::new("toggle-subscriber-updates", json!({}), "simulated resource")),
        ..Script::default()
    }
}

fn filesystem(folder: &str) -> Script {
    let path = format!("{folder}/hello.txt");
    Script {
        tools: &["read_text_file", "write_file", "list_directory"],
        call: Call::new("read_text_file", json!({"path": path}), "hello from a file"),
        structured: Some((
            Call::new("read_text_file", json!({"path": path, "head": 1}), "hello"),
            json!({"content": "hello from a file"}),
        )),
        ..Script::default()
    }
}

fn memory() -> Script {
    let crab = json!({"name": "crab", "entityType": "animal", "observations": ["walks sideways"]});
    let snail = json!({"name": "snail", "entityType": "animal", "observations": []});
    Script {
        tools: &["create_entities", "read_graph"],
        call: Call::new("read_graph", json!({}), "relations"),
        structured: Some((
            Call::new("create_entities", json!({"entities": [crab]}), "walks sideways"),
            json!({"entities": [crab]}),
        )),
        resource: Some("memory://knowledge-graph"),
        read: Some("walks sideways"),
        update: Some(Call::new("create_entities", json!({"entities": [snail]}), "snail")),
        ..Script::default()
    }
}

fn git(folder: &str) -> Script {
    Script {
        tools: &["git_status", "git_log", "git_diff_unstaged"],
        call: Call::new("git_log", json!({"repo_path": folder}), "Say hello"),
        ..Script::default()
    }
}

fn time() -> Script {
    let times = json!({"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"});
    Script {
        tools: &["get_current_time", "convert_time"],
        call: Call::new("convert_time", times, "T21:30:00+09:00"),
        ..Script::default()
    }
}

fn fetch(setting: &Setting) -> Script {
    Script {
        tools: &["fetch"],
        call: Call::new("fetch", json!({"url": setting.page}), "hello from a page"),
        prompt: Some(Prompt {
            name: "fetch",
            argument: ("url", setting.page.clone()),
            says: "hello from a page".into(),
        }),
        cancel: Some(Cancel {
            call: Call::new("fetch", json!({"url": setting.silent}), ""),
            proof: Proof::HungUp,
        }),
        ..Script::default()
    }
}

fn fastmcp(root: &str) -> Script {
    Script {
        tools: &["echo", "add", "fail", "log", "slow", "ask_name", "ask_model", "show_roots"],
        structured: Some((Call::new("add", json!({"a": 2, "b": 3}), "5"), json!({"sum": 5}))),
        progress: Some(Progress {
            call: Call::new("slow", json!({"steps": 3, "delay": 0.02}), "3 steps done"),
            steps: 3,
        }),
        cancel: Some(Cancel {
            call: Call::new("slow", json!({"steps": 1000, "delay": 0.05}), ""),
            proof: Proof::Counted(Call::new("cancelled", json!({"count": 1}), "1 cancelled")),
        }),
        log: Some(Log::EachLevel(Call::new("log", json!({"text": "matrix"}), "logged"))),
        ..notes(root)
    }
}

fn rmcp(root: &str) -> Script {
    Script {
        tools: &["echo", "add", "fail", "slow", "ask_name", "ask_model", "show_roots", "touch", "grow"],
        structured: Some((Call::new("add", json!({"a": 2, "b": 3}), "5"), json!({"sum": 5}))),
        complete: Some(Complete {
            prompt: "greet",
            argument: "name",
            begun: "Ad",
            values: &["Ada", "Adele"],
        }),
        progress: Some(Progress {
            call: Call::new("slow", json!({"steps": 3, "delay_ms": 20}), "3 steps done"),
            steps: 3,
        }),
        cancel: Some(Cancel {
            call: Call::new("slow", json!({"steps": 1000, "delay_ms": 50}), ""),
            proof: Proof::Counted(Call::new("cancelled", json!({"count": 1}), "1 cancelled")),
        }),
        log: Some(Log::EachLevel(Call::new("log", json!({"text": "matrix"}), "logged"))),
        update: Some(Call::new("touch", json!({}), "touched")),
        growth: Some((Call::new("grow", json!({}), "grown"), "late")),
        ..notes(root)
    }
}

/// Steps shared by the two servers of this crate.
fn notes(root: &str) -> Script {
    Script {
        resource: Some("note://hello"),
        template: Some("note://{name}"),
        prompt: Some(Prompt {
            name: "greet",
            argument: ("name", NAME.into()),
            says: format!("greet {NAME}"),
        }),
        call: Call::new("echo", json!({"text": "grüße 🦀"}), "grüße 🦀"),
        read: Some("hello from a note"),
        questions: vec![
            Call::new("ask_name", json!({}), format!("hello, {NAME}")),
            Call::new("ask_model", json!({"prompt": "?"}), format!("{MODEL} said: {SAID}")),
            Call::new("show_roots", json!({}), root),
        ],
        ..Script::default()
    }
}
