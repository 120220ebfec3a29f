//! Text and JSON output of `config check`, `show`, `import` and `schema`.

#[path = "support/home.rs"]
mod home;
#[expect(dead_code, reason = "only a part of the shared support is used here")]
mod support;

use home::Home;
use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

#[test]
fn check_shows_each_problem_with_its_line_and_a_mark() {
    let home = Home::new();
    home.write("project/trunkline.json", "{\n  \"mcp\": {\n    \"servers\": {\n      \"a\": { \"comand\": [\"x\"], \"environment\": { \"API_KEY\": \"abcdefgh12\" } },\n      \"grüße\": {}\n    }\n  },\n\t\"limits\": { \"calls\": 0 }\n}\n");
    insta::assert_snapshot!(home.run(&["config", "check"], &[]), @r#"
    exit 2
    --- stdout
    error[unknown-key]: there is no key `comand` here
     --> ~/project/trunkline.json:4:14
      |
    4 |       "a": { "comand": ["x"], "environment": { "API_KEY": "**********" } },
      |              ^^^^^^^^
      = key: mcp.servers.a.comand
      = help: did you mean `command`?

    warning[inline-secret]: this looks like a literal secret
     --> ~/project/trunkline.json:4:59
      |
    4 |       "a": { "comand": ["x"], "environment": { "API_KEY": "**********" } },
      |                                                           ^^^^^^^^^^^^
      = key: mcp.servers.a.environment.API_KEY
      = help: write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead

    error[bad-value]: `grüße` cannot name a server: 1 to 32 letters, digits or `-`, beginning with a letter or digit
     --> ~/project/trunkline.json:5:16
      |
    5 |       "grüße": {}
      |                ^^
      = key: mcp.servers.grüße
      = help: call it `gr-e`

    error[out-of-range]: it must lie between 1 and 10000
     --> ~/project/trunkline.json:8:23
      |
    8 |  "limits": { "calls": 0 }
      |                       ^
      = key: limits.calls

    --- stderr
    note: ~/project/trunkline.json is not used: it was found here and not approved as it is now; see `trunkline config approve`
    error: the configuration cannot be used: 3 errors, 1 warning
    "#);
}

#[test]
fn check_with_json_gives_every_problem_as_data() {
    let home = Home::new();
    home.write("project/trunkline.json", "{\"listen\": \"${WHERE}\"}");
    let run = home.run(&["config", "check", "--json", "trunkline.json"], &[]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &value["valid"]), (2, &false.into()));
    let problem = &value["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["severity"], &problem["line"], &problem["column"], &problem["key"]),
        (&"unset-variable".into(), &"error".into(), &1.into(), &12.into(), &"listen".into())
    );
}

#[test]
fn check_of_a_sound_file_is_short_and_another_file_can_be_named() {
    let home = Home::new();
    home.write("project/trunkline.json", "{\"nonsense\": 1}");
    home.write("other.json", "// sound\n{\"mcp\": {\"servers\": {\"a\": {\"command\": [\"x\"]}}},}");
    insta::assert_snapshot!(home.run(&["config", "check", "../other.json"], &[]), @r"
    exit 0
    --- stdout
    ~/project/../other.json: no problems, 1 server
    --- stderr
    ");
    let named = [("TRUNKLINE_CONFIG", "../other.json")];
    assert_eq!(home.run(&["config", "check"], &named).code, 0);
    insta::assert_snapshot!(home.run(&["config", "check", "missing.json"], &[]), @r"
    exit 2
    --- stdout
    error[unreadable]: the file cannot be read: No such file or directory (os error 2)
     --> ~/project/missing.json

    --- stderr
    error: the configuration cannot be used: 1 error
    ");
}

#[test]
fn show_tells_where_each_value_comes_from_and_no_secret() {
    let home = Home::new();
    home.write(
        ".config/trunkline/trunkline.json",
        "{\n  \"listen\": \"127.0.0.1:${PORT}\",\n  \"limits\": { \"calls\": 9 }\n}",
    );
    home.write("project/trunkline.json", "{\"mcp\": {\"servers\": {\n  \"a\": { \"command\": [\"${BIN}\", \"--token\", \"abcdefgh12\"], \"environment\": { \"T\": \"{env:A_TOKEN}\", \"L\": \"C\" } },\n  \"b\": { \"url\": \"https://h/mcp?key=abcdefgh12\", \"headers\": { \"X\": \"plain\", \"Y\": \"Bearer ${A_TOKEN}\" } }\n}}}");
    let variables =
        [("PORT", "99"), ("BIN", "srv"), ("A_TOKEN", "t0ps3cret"), ("TRUNKLINE_LIMITS_PARKED", "7")];
    let waiting = home.run(&["config", "show"], &variables);
    assert!(!waiting.stdout.contains("mcp.servers"), "{waiting}");
    assert_eq!(waiting.stderr, WAITS);
    home.run(&["config", "approve", "--yes"], &variables);
    let all = home.run(&["config", "show", "--all"], &variables);
    let built_in = all.stdout.matches("    built in: ").count();
    let run = home.run(&["config", "show"], &variables);
    let shown = run.to_string().replace(&format!("{built_in} more values"), "N more values");
    insta::assert_snapshot!(shown, @r#"
    exit 0
    --- stdout
    listen = "127.0.0.1:{env:PORT}"
        user: ~/.config/trunkline/trunkline.json:2:13
    mcp.servers.a.command = ["{env:BIN}","--token","***"]
        project: ~/project/trunkline.json:2:21
    mcp.servers.a.environment.T = "{env:A_TOKEN}"
        project: ~/project/trunkline.json:2:80
    mcp.servers.a.environment.L = "C"
        project: ~/project/trunkline.json:2:102
    mcp.servers.b.url = "https://h/mcp?key=***"
        project: ~/project/trunkline.json:3:17
    mcp.servers.b.headers.X = "***"
        project: ~/project/trunkline.json:3:67
    mcp.servers.b.headers.Y = "Bearer {env:A_TOKEN}"
        project: ~/project/trunkline.json:3:81
    limits.calls = 9
        user: ~/.config/trunkline/trunkline.json:3:24
    limits.parked = 7
        environment: TRUNKLINE_LIMITS_PARKED

    N more values are built in; --all shows them
    --- stderr
    "#);
    let json = home.run(&["config", "show", "--json"], &variables);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["settings"]["servers"]["a"]["reach"]["program"], "{env:BIN}");
    assert_eq!(value["settings"]["limits"]["parked"], 7);
    for secret in ["t0ps3cret", "abcdefgh12"] {
        assert!(!json.stdout.contains(secret) && !run.stdout.contains(secret), "{secret}");
    }
    let one = home.run(&["config", "show", "limits.calls"], &variables);
    assert_eq!(one.stdout, "limits.calls = 9\n    user: ~/.config/trunkline/trunkline.json:3:24\n");
}

const CURSOR: &str = r#"{"mcpServers": {
  "github": {"command": "npx", "args": ["-y", "gh"], "env": {"GITHUB_TOKEN": "ghp_NotARealTokenNotARealToken0000"}},
  "docs": {"url": "https://docs.example.com/mcp"}}}"#;

#[test]
fn import_shows_first_and_writes_only_when_told_to() {
    let home = Home::new();
    home.write(".cursor/mcp.json", CURSOR);
    home.write("project/.mcp.json", r#"{"mcpServers": {"github": {"type": "ws", "url": "wss://h/"}, "local_one": {"command": "./run.sh"}}}"#);
    let run = home.run(&["config", "import", "--project"], &[]);
    insta::assert_snapshot!(run, @r#"
    exit 0
    --- stdout
    client                 server     kind    becomes
    ─────────────────────  ─────────  ──────  ─────────────
    Cursor (user)          github     local   github
    Cursor (user)          docs       remote  docs
    Claude Code (project)  github     remote  — (see below)
    Claude Code (project)  local_one  local   local-one

    Needs attention
    github (~/.cursor/mcp.json)
      - set `GITHUB_TOKEN` to what stands in `env.GITHUB_TOKEN`
    github (~/project/.mcp.json)
      - it is reached by WebSocket, which is no transport of the protocol
    local_one (~/project/.mcp.json)
      - `local_one` is called `local-one` here

    ~/.config/trunkline/trunkline.json
    @@ -0,0 +1,22 @@
    +{
    +  "mcp": {
    +    "servers": {
    +      "github": {
    +        "type": "local",
    +        "command": ["npx", "-y", "gh"],
    +        "environment": {
    +          "GITHUB_TOKEN": "{env:GITHUB_TOKEN}"
    +        }
    +      },
    +      "docs": {
    +        "type": "remote",
    +        "url": "https://docs.example.com/mcp"
    +      },
    +      "local-one": {
    +        "type": "local",
    +        "command": ["./run.sh"],
    +        "cwd": "~/project"
    +      }
    +    }
    +  }
    +}

    nothing was written; --write writes it
    servers stay disabled until these variables are set: GITHUB_TOKEN (github)
    with --move-secrets, the secrets of the clients' files are kept in files instead
    --- stderr
    "#);
    let ours = home.path(".config/trunkline/trunkline.json");
    assert!(!ours.exists(), "nothing is written without --write");
    let run = home.run(&["config", "import", "--project", "--write"], &[]);
    assert!(run.stdout.contains("~/.config/trunkline/trunkline.json was written\n"), "{run}");
    assert!(!fs::read_to_string(&ours).unwrap().contains("ghp_"));
    let check = home.run(&["config", "check"], &[("GITHUB_TOKEN", "x")]);
    assert_eq!(check.code, 0, "{check}");
    let again = home.run(&["config", "import", "--write"], &[]);
    assert!(again.stdout.ends_with("there is nothing to add\n"), "{again}");
}

#[test]
fn v12_the_servers_of_a_project_are_not_imported_unasked() {
    let home = Home::new();
    home.write(".cursor/mcp.json", r#"{"mcpServers": {"memory": {"command": "mine"}}}"#);
    for file in ["project/.mcp.json", ".vscode/mcp.json"] {
        let member = if file.contains("vscode") { "servers" } else { "mcpServers" };
        let theirs = serde_json::json!({"memory": {"command": "evil"}, "other": {"command": "evil"}});
        home.write(file, &serde_json::json!({ member: theirs }).to_string());
    }
    let run = home.run(&["config", "import", "--write"], &[]);
    assert!(run.stdout.contains("`--project` imports it, too"), "{run}");
    let ours = fs::read_to_string(home.path(".config/trunkline/trunkline.json")).unwrap();
    assert!(ours.contains(r#""memory": {"#) && ours.contains("mine") && !ours.contains("evil"), "{ours}");
    let again = home.run(&["config", "import", "--write"], &[]);
    assert!(again.stdout.ends_with("there is nothing to add\n"), "{again}");
    // Even if they are asked for, they do not take the name of the user's own.
    let asked = home.run(&["config", "import", "--project", "--write"], &[]);
    let ours = fs::read_to_string(home.path(".config/trunkline/trunkline.json")).unwrap();
    assert!(ours.contains("evil") && ours.find("mine") < ours.find("evil"), "{asked}");
    let named = home.run(&["config", "import", "--from", ".mcp.json", "--to", "new.json", "--write"], &[]);
    assert!(fs::read_to_string(home.path("project/new.json")).unwrap().contains("evil"), "{named}");
}

#[test]
fn import_keeps_what_is_there_and_a_copy_of_it() {
    let home = Home::new();
    home.write(".cursor/mcp.json", CURSOR);
    let before = "{\n  // mine\n  \"mcp\": { \"servers\": {\n    \"docs\": { \"url\": \"https://other.example.com/\" }, // kept\n  } },\n}\n";
    home.write("project/trunkline.json", before);
    let run = home.run(&["config", "import", "cursor", "--to", "trunkline.json", "--write", "--json"], &[]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let outcomes: Vec<_> = value["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| (&server["name"], &server["outcome"]))
        .collect();
    assert_eq!(outcomes, [(&"github".into(), &"added".into()), (&"docs".into(), &"kept".into())]);
    assert_eq!((&value["written"], &value["servers"][0]["set"][0]), (&true.into(), &"GITHUB_TOKEN".into()));
    let backup = value["backup"].as_str().unwrap().replace('~', &home.0.path().to_string_lossy());
    assert_eq!(fs::read_to_string(backup).unwrap(), before);
    let after = fs::read_to_string(home.path("project/trunkline.json")).unwrap();
    assert!(
        after.contains("// mine") && after.contains("// kept") && after.contains("\"github\""),
        "{after}"
    );
}

#[test]
fn import_can_keep_secrets_in_files_and_then_everything_works_at_once() {
    let home = Home::new();
    home.write(".cursor/mcp.json", CURSOR);
    let run = home.run(&["config", "import", "--write", "--move-secrets"], &[]);
    assert!(!run.stdout.contains("ghp_"), "{run}");
    let secret = home.path(".config/trunkline/secrets/GITHUB_TOKEN");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "ghp_NotARealTokenNotARealToken0000");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let check = home.run(&["config", "check"], &[]);
    assert_eq!(
        (check.code, check.stdout.as_str()),
        (0, "~/.config/trunkline/trunkline.json: no problems, 2 servers\n")
    );
}

#[test]
fn import_reads_one_named_file_and_tells_what_is_wrong_with_it() {
    let home = Home::new();
    home.write("project/broken/mcp_config.json", "{\"mcpServers\": {\n");
    insta::assert_snapshot!(home.run(&["config", "import", "windsurf", "--from", "broken/mcp_config.json"], &[]), @r"
    exit 2
    --- stdout
    error[syntax]: this object is never closed; a `}` is missing
     --> ~/project/broken/mcp_config.json:1:16

    no servers were found
    --- stderr
    error: broken/mcp_config.json cannot be read
    ");
    home.write("project/what.json", "{}");
    let run = home.run(&["config", "import", "--from", "what.json"], &[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("cannot tell which client"), "{run}");
    let nobody = home.run(&["config", "import", "emacs"], &[]);
    assert!(nobody.code == 2 && nobody.stderr.contains("claude-code, claude-desktop"), "{nobody}");
    let nothing = home.run(&["config", "import"], &[]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, "no file of any client was found\n"));
}

/// The message of commands about a file that awaits approval.
const WAITS: &str = " WARN ~/project/trunkline.json is not used: it was found here and not approved as it is now; see `trunkline config approve`\n";

const STRANGE: &str = r#"{
  "mcp": {"servers": {
    "a": {"command": ["run", "--token", "abcdefgh12", "{env:MY_VARIABLE}"], "inherit": ["AWS_PROFILE"]},
    "b": {"url": "https://h.example/mcp", "headers": {"X": "Bearer {file:~/key}"}}
  }},
  "limits": {"calls": 3}
}"#;

#[test]
fn v05_a_projects_file_waits_for_approval_and_waits_again_when_changed() {
    let home = Home::new();
    home.write("key", "k3y");
    home.write("project/trunkline.json", STRANGE);
    let variables = [("MY_VARIABLE", "my-value")];
    let run = |args: &[&str]| home.run(args, &variables);
    insta::assert_snapshot!(run(&["config", "approve"]), @r#"
    exit 1
    --- stdout
    ~/project/trunkline.json
        sha256 70ee5e814a5b8d82809ce58760ecac5426ae7f9b616006fab9503c2d420d126d

    servers
        a
            command = ["run","--token","abcdefgh12","{env:MY_VARIABLE}"]
            inherit = ["AWS_PROFILE"]
        b
            url = "https://h.example/mcp"
            headers.X = "Bearer {file:~/key}"

    variables, files and secrets that it uses
        {env:MY_VARIABLE} → mcp.servers.a.command (line 3)
        {file:~/key} → mcp.servers.b.headers.X (line 4)

    other security settings
        limits.calls = 3

    not approved; --yes approves it
    --- stderr
    "#);
    for (args, why) in [
        (&["config", "approve", "c"][..], "no server `c` waits"),
        (&["config", "approve", "a"], "it has the server `b`, too"),
    ] {
        let refused = run(args);
        assert!(refused.code == 2 && refused.stderr.contains(why), "{refused}");
    }
    let list = run(&["list", "a"]);
    assert!(list.code == 2 && list.stderr.starts_with(WAITS), "{list}");
    assert!(run(&["config", "approve", "a", "b"]).stdout.ends_with("\napproved\n"));
    assert_eq!(run(&["config", "approve"]).stdout, "nothing waits for approval\n");
    let show = run(&["config", "show", "limits.calls"]);
    assert!(show.stdout.starts_with("limits.calls = 3") && show.stderr.is_empty(), "{show}");
    home.write("project/trunkline.json", &STRANGE.replace("run", "evil"));
    let again = run(&["config", "show", "limits.calls"]);
    assert!(again.stdout.starts_with("limits.calls = 3\n"), "the restriction holds: {again}");
    assert_eq!(again.stderr, WAITS);
    let waiting = run(&["config", "approve", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&waiting.stdout).unwrap();
    assert_eq!(
        (&value["approved"], &value["file"]["references"][0]["written"]),
        (&false.into(), &"{env:MY_VARIABLE}".into())
    );
    assert!(run(&["config", "approve", "--all"]).stdout.ends_with("\napproved\n"));
    assert!(run(&["config", "show"]).stderr.is_empty());
}

#[test]
fn v08_a_file_that_widens_something_cannot_be_approved_and_the_line_is_told() {
    let home = Home::new();
    home.write("project/trunkline.json", "{\n  \"audit\": { \"enabled\": false }\n}");
    insta::assert_snapshot!(home.run(&["config", "approve", "--yes"], &[]), @r#"
    exit 2
    --- stdout
    ~/project/trunkline.json
        sha256 f6b986400f5d054840f57954b05af4be24129087e8dede1d9a3df4a7efec8b6e

    servers: none

    variables, files and secrets that it uses: none

    other security settings
        audit.enabled = false
    --- stderr
    error[project-may-not]: a project's file may not switch this off
     --> ~/project/trunkline.json:2:14
      |
    2 |   "audit": { "enabled": false }
      |              ^^^^^^^^^
      = key: audit.enabled
      = help: put it into your own file ~/.config/trunkline/trunkline.json

    error: the configuration cannot be used
    hint: see `trunkline config check`
    "#);
    let check = home.run(&["config", "check"], &[]);
    assert!(check.code == 2 && check.stdout.contains("error[project-may-not]"), "{check}");
    assert!(check.stderr.contains("is not used"), "{check}");
    assert_eq!(
        home.run(&["config", "check", "trunkline.json"], &[]).code,
        0,
        "a file that is named is trusted"
    );
}

#[test]
fn the_schema_is_json_and_the_one_in_the_documentation() {
    let run = Home::new().run(&["config", "schema"], &[]);
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(schema["properties"]["mcp"]["properties"]["servers"].is_object());
    let kept: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "trunkline.schema.json"].iter().collect();
    assert_eq!(run.stdout, fs::read_to_string(kept).unwrap());
}

/// No shell expands `~` in these variables, so that it names a directory of the project.
#[test]
fn v07_a_relative_home_of_settings_is_not_the_users_own() {
    let home = Home::new();
    home.write(
        "project/~/.config/trunkline/trunkline.json",
        r#"{"mcp": {"servers": {"evil": {"command": ["touch", "ran"]}}}}"#,
    );
    let run = home.run(&["config", "show"], &[("XDG_CONFIG_HOME", "~/.config")]);
    assert!(!run.stdout.contains("evil"), "{run}");
    home.run(&["list", "evil"], &[("XDG_CONFIG_HOME", "~/.config")]);
    assert!(!home.path("project/ran").exists());
}
