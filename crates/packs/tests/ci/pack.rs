//! The tools offered for given options.

use serde_json::{Value, json};
use trunkline_packs::ci::{self, Access, CiOptions, CiPackError, ProviderOptions, Rerun, Token};
use trunkline_toolbox::Tool;

use crate::{
    bench::{call, directory, running, trial},
    service::Service,
};

const RUNNING: [&str; 10] = [
    "build",
    "run_tests",
    "lint",
    "restore",
    "run_command",
    "start_job",
    "job_status",
    "job_log",
    "list_jobs",
    "cancel_job",
];

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(Tool::name).collect()
}

#[test]
fn by_default_nothing_is_run() {
    let root = directory(&[]);
    let tools = ci::pack(CiOptions::new([root.path()])).expect("a pack");
    assert_eq!(names(&tools), ["detect_project", "get_diagnostics"]);
}

#[tokio::test]
async fn c08_building_a_hostile_repository_needs_permission() {
    let root = directory(&[("Makefile", "all:\n\ttouch ran\ntest: all\nlint: all\n")]);
    let mut options = running(root.path());
    options.access = Access::Look;
    let trial = trial(options);
    for tool in RUNNING {
        let arguments = json!({"command": "make --version", "jobId": "x", "action": "build"});
        assert!(trial.run_tool(tool, arguments).await.outcome.is_err(), "{tool} must not exist");
    }
    let said = call(&trial, "detect_project", json!({})).await;
    assert_eq!(said.data["projects"][0]["kind"], "make");
    assert!(!root.path().join("ran").exists());
}

#[test]
fn every_tool_tells_all_about_itself() {
    let root = directory(&[]);
    let mut options = running(root.path());
    options.fetch = Some(Service::new(Vec::new()));
    let provider = ProviderOptions { rerun: Rerun::Offered, ..ProviderOptions::github(Token::new("t")) };
    options.providers = vec![provider];
    let tools = ci::pack(options).expect("a pack");
    assert_eq!(tools.len(), 2 + RUNNING.len() + 4);
    for tool in &tools {
        let definition = tool.definition();
        let name = tool.name();
        let hints = definition.annotations.expect(name);
        let all =
            [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint];
        assert!(all.iter().all(Option::is_some), "{name}: {all:?}");
        assert!(
            !RUNNING[..6].contains(&name) || all[..2] == [Some(false), Some(true)],
            "{name} runs foreign code"
        );
        assert!(definition.output_schema.is_some() && definition.title.is_some(), "{name}");
        assert!(definition.description.is_some_and(|text| text.len() < 2000), "{name}");
        let schema: Value = definition.input_schema.decode().expect("JSON");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        assert!(!schema.to_string().contains("anyOf"), "{name}: {schema}");
    }
}

#[test]
fn without_rules_there_is_no_run_command() {
    let root = directory(&[]);
    let mut options = running(root.path());
    options.commands = Vec::new();
    assert!(!names(&ci::pack(options).expect("a pack")).contains(&"run_command"));
}

#[test]
fn options_that_cannot_work_are_refused() {
    let root = directory(&[]);
    let with = |provider: ProviderOptions, fetch: bool| {
        let mut options = CiOptions::new([root.path()]);
        options.providers = vec![provider];
        options.fetch = fetch.then(|| Service::new(Vec::new()) as _);
        ci::pack(options).err()
    };
    let github = ProviderOptions::github(Token::new("secret-value"));
    assert!(!format!("{github:?}").contains("secret-value"));
    assert!(matches!(with(github.clone(), false), Some(CiPackError::NoFetch)));
    let plain = ProviderOptions { api: "http://ci.example/api".into(), ..github };
    assert!(matches!(with(plain, true), Some(CiPackError::Address { .. })));
    assert!(matches!(ci::pack(CiOptions::new(Vec::<&str>::new())).err(), Some(CiPackError::NoRoot)));
    assert!(matches!(ci::pack(CiOptions::new(["/nowhere"])).err(), Some(CiPackError::Root { .. })));
}

#[tokio::test]
async fn diagnostics_tell_the_machine_and_its_tools() {
    let root = directory(&[]);
    let trial = trial(running(root.path()));
    let said = call(&trial, "get_diagnostics", json!({})).await;
    assert_eq!(said.data["os"], std::env::consts::OS);
    assert!(said.data["cpuCount"].as_u64().is_some_and(|count| count > 0));
    let programs = said.data["programs"].as_array().expect("programs");
    let cargo = programs.iter().find(|program| program["name"] == "cargo").expect("cargo runs this test");
    assert!(cargo["version"].as_str().is_some_and(|version| version.starts_with("cargo ")), "{cargo}");
}
