//! Imports realistic files of each client.

mod support;

use std::{collections::HashSet, fmt::Write as _, path::PathBuf};
use support::Place;
use trunkline_config::{
    import::{Client, ClientFile, Machine, Outcome, Plan, Scope, insert, plan, read},
    jsonc,
};

/// Secrets in the fixtures, which must never be shown.
const SECRETS: &[&str] =
    &["ghp_NotAReal", "BSAnotreal", "not-a-real", "s3cretpw1", "sbp_notareal", "notarealkey"];

fn fixture(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", name].iter().collect();
    std::fs::read_to_string(path).expect("the fixture is there")
}

fn found(client: Client, scope: Scope, name: &str) -> Plan {
    let path = match scope {
        Scope::Project => format!("/srv/app/.client/{name}"),
        Scope::User => format!("/home/me/{name}"),
    };
    let file = ClientFile { client, scope, path: path.into() };
    let found = read(&file, &fixture(name), "/srv/app/src".as_ref()).expect("the fixture can be read");
    plan(found, None)
}

/// The outcome for each server, and the resulting file.
fn told(plan: &Plan) -> String {
    let mut out = String::new();
    for planned in &plan.servers {
        writeln!(out, "{} `{}` -> {} ({:?})", planned.client, planned.theirs, planned.name, planned.outcome)
            .expect("it can be written");
        for note in &planned.notes {
            writeln!(out, "  {note}").expect("it can be written");
        }
    }
    let made = insert(None, plan).expect("a new file can be made");
    write!(out, "---\n{made}").expect("it can be written");
    for secret in SECRETS {
        assert!(!out.contains(secret) && !format!("{plan:?}").contains(secret), "{secret} in {out}");
    }
    sound(&made);
    out
}

/// Asserts that every written server is valid.
fn sound(made: &str) {
    let mut place = Place::project(made);
    for name in names(made) {
        place = place.variable(&name, "https://value.example.com/");
    }
    let problems = place.problems();
    let expected = |line: &str| line.contains("[unavailable-secret]");
    let other: Vec<&str> = problems.lines().filter(|line| !expected(line)).collect();
    assert!(other.is_empty(), "{made}\n{other:#?}");
}

/// The variables that a text refers to.
fn names(text: &str) -> Vec<String> {
    let after = |mark: &str| {
        text.split(mark)
            .skip(1)
            .map(|rest| {
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
            })
            .collect::<Vec<_>>()
    };
    [after("{env:"), after("${")].concat()
}

#[test]
fn claude_desktop() {
    insta::assert_snapshot!(told(&found(Client::ClaudeDesktop, Scope::User, "claude_desktop_config.json")));
}

#[test]
fn claude_code_of_the_user_and_of_this_project_only() {
    insta::assert_snapshot!(told(&found(Client::ClaudeCode, Scope::User, "claude_code_user.json")));
}

#[test]
fn claude_code_of_the_project() {
    insta::assert_snapshot!(told(&found(Client::ClaudeCode, Scope::Project, "claude_code_project.mcp.json")));
}

#[test]
fn vscode() {
    insta::assert_snapshot!(told(&found(Client::VsCode, Scope::Project, "vscode_mcp.json")));
}

#[test]
fn cursor() {
    insta::assert_snapshot!(told(&found(Client::Cursor, Scope::User, "cursor_mcp.json")));
}

#[test]
fn opencode_v1() {
    insta::assert_snapshot!(told(&found(Client::OpenCode, Scope::User, "opencode_v1.jsonc")));
}

#[test]
fn opencode_v2() {
    insta::assert_snapshot!(told(&found(Client::OpenCode, Scope::User, "opencode_v2.jsonc")));
}

#[test]
fn codex() {
    insta::assert_snapshot!(told(&found(Client::Codex, Scope::User, "codex_config.toml")));
}

#[test]
fn gemini() {
    insta::assert_snapshot!(told(&found(Client::Gemini, Scope::Project, "gemini_settings.json")));
}

#[test]
fn windsurf() {
    insta::assert_snapshot!(told(&found(Client::Windsurf, Scope::User, "windsurf_mcp_config.json")));
}

#[test]
fn zed() {
    insta::assert_snapshot!(told(&found(Client::Zed, Scope::User, "zed_settings.json")));
}

#[test]
fn cline() {
    insta::assert_snapshot!(told(&found(Client::Cline, Scope::User, "cline_mcp_settings.json")));
}

#[test]
fn copilot() {
    insta::assert_snapshot!(told(&found(Client::Copilot, Scope::User, "copilot_mcp-config.json")));
}

fn of(client: Client, text: &str) -> Vec<trunkline_config::import::Found> {
    let file = ClientFile { client, scope: Scope::User, path: format!("/home/me/{}", client.name()).into() };
    read(&file, text, "/srv".as_ref()).expect("the text can be read")
}

#[test]
fn servers_of_the_same_name_are_told_apart() {
    let one = r#"{"mcpServers": {"git_hub": {"command": "a", "env": {"GH_TOKEN": "abcdefgh1"}}, "Same": {"url": "https://h/"}}}"#;
    let two = r#"{"mcpServers": {"git.hub": {"command": "b", "env": {"GH_TOKEN": "abcdefgh2"}}, "same": {"url": "https://h/"}}}"#;
    let both: Vec<_> = of(Client::Cursor, one).into_iter().chain(of(Client::Windsurf, two)).collect();
    insta::assert_snapshot!(told(&plan(both, None)));
}

#[test]
fn a_later_import_adds_only_what_is_new() {
    let first =
        plan(of(Client::Cursor, r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#), None);
    let made = insert(None, &first).unwrap();
    let changed =
        r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "other"}, "c": {"command": "c"}}}"#;
    let second = plan(of(Client::Cursor, changed), Some(&jsonc::parse(&made, 0).unwrap()));
    let outcomes: Vec<_> =
        second.servers.iter().map(|planned| (planned.name.as_str(), planned.outcome)).collect();
    assert_eq!(outcomes, [("a", Outcome::Same), ("b", Outcome::Kept), ("c", Outcome::Added)]);
    let again = insert(Some(&made), &second).unwrap();
    let tree = jsonc::parse(&again, 0).unwrap();
    assert_eq!(tree.at(&["mcp", "servers"]).unwrap().entries().len(), 3);
    let third = plan(of(Client::Cursor, r#"{"mcpServers": {"c": {"command": "c"}}}"#), Some(&tree));
    assert_eq!(insert(Some(&again), &third).unwrap(), again);
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_place() {
    let file = |client| ClientFile { client, scope: Scope::User, path: "/home/me/f".into() };
    let problem = |client, text| read(&file(client), text, "/srv".as_ref()).unwrap_err().remove(0);
    let json = problem(Client::Cursor, "{\n  \"mcpServers\": [,]\n}");
    assert_eq!((json.line, json.column), (2, 18));
    let toml = problem(Client::Codex, "[mcp_servers.a]\ncommand = \n");
    assert_eq!(toml.line, 2);
}

#[test]
fn files_are_found_where_clients_keep_them() {
    let place = Place::new();
    for path in ["home/.cursor", "home/.config/Claude", "home/.codex", "project/.vscode", "project/.cursor"] {
        std::fs::create_dir_all(place.path(path)).unwrap();
    }
    let place = place
        .file("home/.cursor/mcp.json", "{}")
        .file("project/.cursor/mcp.json", "{}")
        .file("home/.config/Claude/claude_desktop_config.json", "{}")
        .file("home/.codex/config.toml", "")
        .file("home/.claude.json", "{}")
        .file("project/.mcp.json", "{}")
        .file("project/.vscode/mcp.json", "{}");
    let machine = Machine {
        home: Some(place.path("home")),
        directory: place.path("project/deep/er"),
        ..Machine::default()
    };
    let mut lines = String::new();
    for file in Client::ALL.iter().flat_map(|client| client.files(&machine)) {
        let path = file.path.strip_prefix(place.folder.path()).unwrap();
        writeln!(lines, "{} {:?} {}", file.client, file.scope, path.display()).unwrap();
    }
    insta::assert_snapshot!(lines, @r"
    Claude Code Project project/.mcp.json
    Claude Code User home/.claude.json
    Claude Desktop User home/.config/Claude/claude_desktop_config.json
    Codex User home/.codex/config.toml
    Cursor Project project/.cursor/mcp.json
    Cursor User home/.cursor/mcp.json
    VS Code Project project/.vscode/mcp.json
    ");
}

#[test]
fn clients_are_known_by_the_names_people_use() {
    for (text, client) in [
        ("vscode", Client::VsCode),
        ("VS Code", Client::VsCode),
        ("claude_code", Client::ClaudeCode),
        ("Gemini CLI", Client::Gemini),
    ] {
        assert_eq!(text.parse(), Ok(client));
    }
    assert!("emacs".parse::<Client>().is_err());
}

#[test]
fn j12_very_many_servers_of_one_name_all_get_names_and_secrets_of_their_own() {
    const MANY: usize = 1200;
    // Half of them share their secret with another.
    let server = |at: usize| {
        let (blanks, token) = (" ".repeat(at), at % (MANY / 2));
        format!("\"a{blanks}\":{{\"command\":\"{at}\",\"env\":{{\"TOKEN\":\"sk-{token:020}\"}}}}")
    };
    let servers: Vec<String> = (0..MANY).map(server).collect();
    let text = format!("{{\"mcpServers\":{{{}}}}}", servers.join(","));
    let file = ClientFile { client: Client::Cursor, scope: Scope::User, path: "/home/me/mcp.json".into() };
    let plan = plan(read(&file, &text, "/".as_ref()).expect("it can be read"), None);
    let names: HashSet<&str> = plan.servers.iter().map(|planned| planned.name.as_str()).collect();
    assert_eq!(names.len(), MANY);
    assert!(names.contains("a") && names.contains("a-cursor") && names.contains(&*format!("a-{}", MANY - 1)));
    let secrets = plan.servers.iter().flat_map(|planned| &planned.secrets);
    let variables: HashSet<&str> = secrets.map(|secret| secret.variable.as_str()).collect();
    assert_eq!(variables.len(), MANY / 2);
    insert(None, &plan).expect("all of them fit");
}

#[test]
fn j12_a_file_that_we_could_not_read_again_is_not_written() {
    let words = "\"${A}\",".repeat(130_000);
    let text = format!("{{\"mcpServers\":{{\"a\":{{\"command\":\"x\",\"args\":[{words}\"\"]}}}}}}");
    let file = ClientFile { client: Client::Gemini, scope: Scope::User, path: "/home/me/mcp.json".into() };
    let plan = plan(read(&file, &text, "/".as_ref()).expect("it can be read"), None);
    let errors = insert(None, &plan).expect_err("it is longer than ours may be");
    assert!(errors[0].reason.contains("larger than"), "{errors:?}");
}
