//! The real binary against a scripted server: its text and JSON output.

mod support;

use support::{Run, scripted, trunkline};

#[test]
fn the_overview_lists_everything_harmlessly() {
    let run = scripted(&["list"], &[]);
    insta::assert_snapshot!(run, @r"
        exit 0
        --- stdout
        scripted 1.2.3 · MCP 2025-11-25 · stdio

        Tools (12)
          echo(message: string, times?: integer)
              Says it again
          fail()
              Reports an error
          picture()
              Draws a dot
          table()
              Gives structured content
          escape()
              Sends ␛[31mcontrol␛[0m characters
          count()
              Reports progress and logs
          ask()
              Asks a form
          hang()
              Never answers
          crash()
              Ends the process
          where()
              Lists the client's roots
          environment(name: string)
              Shows a variable
          odd()
              Has a broken schema

        Resources (1)
          demo://text text/plain
              text

        Resource templates (1)
          demo://{id}
              by id

        Prompts (1)
          greet(who, style?)

        Instructions
          Be kind.
        --- stderr
        ");
}

#[test]
fn kinds_filter_the_overview_and_schemas_are_shown_on_request() {
    let run = scripted(&["list", "prompts", "templates", "--schema"], &[]);
    insta::assert_snapshot!(run, @r"
        exit 0
        --- stdout
        scripted 1.2.3 · MCP 2025-11-25 · stdio

        Resource templates (1)
          demo://{id}
              by id

        Prompts (1)
          greet(who, style?)
        --- stderr
        ");
}

#[test]
fn the_overview_as_json_holds_server_and_lists() {
    let run = scripted(&["list", "prompts", "--json"], &[]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["server"]["name"], "scripted");
    assert_eq!(value["server"]["transport"], "stdio");
    assert_eq!(value["prompts"][0]["arguments"][0]["name"], "who");
    assert!(value.get("tools").is_none());
}

#[test]
fn a_call_converts_its_arguments_and_prints_text() {
    insta::assert_snapshot!(scripted(&["call", "echo", "message=7", "times=2"], &[]), @r"
        exit 0
        --- stdout
        7 7
        --- stderr
        ");
}

#[test]
fn a_call_that_would_be_refused_is_not_sent() {
    let run = scripted(&["call", "echo", "mesage=hi", "times=x"], &[]);
    insta::assert_snapshot!(run, @r"
        exit 2
        --- stdout
        --- stderr
        error[E203]: `times` must be an integer, not `x`; `times:=…` takes any JSON
        hint: Check the arguments against the tool's schema
        ");
    let run = scripted(&["call", "echo", "mesage=hi", "times=2"], &[]);
    insta::assert_snapshot!(run, @r"
        exit 2
        --- stdout
        --- stderr
        error[E203]: `echo` was not called:
          missing: `message` (string)
          there is no argument `mesage`; did you mean `message`?
        hint: Check the arguments against the tool's schema
        hint: `trunkline list … tools --schema` shows the schema; --no-check sends the call anyway
        ");
    assert!(!run.log.contains("tools/call"), "{}", run.log);
}

#[test]
fn an_unknown_tool_is_answered_with_a_suggestion() {
    insta::assert_snapshot!(scripted(&["call", "ecko"], &[]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E204]: the server has no tool named `ecko`
        hint: List what the server offers, and check the name
        hint: did you mean `echo`?
        ");
}

#[test]
fn without_the_check_the_server_decides() {
    let run = scripted(&["call", "--no-check", "nonesuch", "a=1"], &[]);
    insta::assert_snapshot!(run, @r"
        exit 1
        --- stdout
        --- stderr
        error[E203]: The server refused the request as invalid
          not known: 'nonesuch'
        hint: Check the arguments against the tool's schema
        ");
}

#[test]
fn a_broken_schema_costs_a_warning_only() {
    let run = scripted(&["call", "odd", "a=1"], &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "{\"a\": \"1\"}\n"));
    assert!(run.stderr.starts_with("warning: the tool's schema is broken"), "{}", run.stderr);
}

#[test]
fn a_tool_error_is_exit_one() {
    insta::assert_snapshot!(scripted(&["call", "fail"], &[]), @r"
        exit 1
        --- stdout
        The tool reported an error:
        it did not work
        --- stderr
        ");
}

#[test]
fn structured_content_is_a_table_shown_once() {
    insta::assert_snapshot!(scripted(&["call", "table"], &[]), @r"
        exit 0
        --- stdout
        rows:
          id                    name
          ────────────────────  ────
          1                     one
          22222222222222222222  two
        --- stderr
        ");
}

#[test]
fn json_is_the_result_with_every_digit() {
    let run = scripted(&["call", "table", "--json"], &[]);
    assert!(
        run.stdout.contains(
            r#""structuredContent":{"rows": [{"id": 1, "name": "one"}, {"id": 22222222222222222222,"#
        ),
        "{run}"
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let run = scripted(&["call", "escape"], &[]);
    insta::assert_snapshot!(run, @r"
        exit 0
        --- stdout
        before␛]0;owned␇after <U+009B>2J <U+202E>gnp.exe
        --- stderr
        ");
    assert!(!run.stdout.contains(|c: char| c.is_control() && c != '\n'));
}

#[test]
fn pictures_are_described_and_saved_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dot.png");
    assert_eq!(scripted(&["call", "picture"], &[]).stdout, "[image: image/png, 70 B; save it with --out]\n");
    let run = scripted(&["call", "picture", "--out", file.to_str().unwrap()], &[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_server_that_dies_is_told_with_its_last_words() {
    insta::assert_snapshot!(scripted(&["call", "crash"], &[]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E220]: The server's process ended
          it exited with status 7; its last error output:
          the reactor melted
        hint: Read its error output; `trunkline doctor` looks for the cause
        ");
}

#[test]
fn logs_go_to_standard_error_when_asked_for_and_no_bar_is_drawn_into_a_pipe() {
    insta::assert_snapshot!(scripted(&["call", "count", "--log-level", "notice"], &[]), @r"
        exit 0
        --- stdout
        counted
        --- stderr
        [warning] counter: at 1
        [warning] counter: at 2
        ");
    assert_eq!(scripted(&["call", "count"], &[]).stderr, "");
}

#[test]
fn forms_are_answered_by_flags() {
    let run = scripted(&["call", "ask", "--answer", "name=Ada", "--answer", "age=20"], &[]);
    insta::assert_snapshot!(run, @r#"
        exit 0
        --- stdout
        {"action": "accept", "content": {"name": "Ada", "age": 20, "color": "red"}}
        --- stderr
        "#);
    assert!(
        run.log.contains(r#""elicitation":{}"#) || run.log.contains(r#""elicitation": {}"#),
        "{}",
        run.log
    );
}

#[test]
fn with_nobody_to_ask_the_server_is_told_so() {
    let run = scripted(&["call", "echo", "message=x"], &[]);
    assert!(run.log.contains("\"method\":\"initialize\"") && !run.log.contains("elicitation"), "{}", run.log);
}

#[test]
fn an_answer_that_does_not_fit_declines_the_form() {
    insta::assert_snapshot!(scripted(&["call", "ask", "--answer", "name=Ada", "--answer", "age=7"], &[]), @r#"
        exit 0
        --- stdout
        {"action": "decline"}
        --- stderr
        note: the server asks: Who are you?
        warning: --answer age: this is wanted: number from 18
        warning: the form was declined
        "#);
}

#[test]
fn roots_are_told_as_file_uris() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let run = scripted(&["call", "where", "--root", path.to_str().unwrap()], &[]);
    assert!(run.stdout.contains(&format!("\"uri\": \"file://{}\"", path.display())), "{run}");
}

#[test]
fn resources_prompts_and_completions_are_printed_plain() {
    assert_eq!(scripted(&["read", "demo://text"], &[]).stdout, "the text\n");
    assert_eq!(scripted(&["prompt", "greet", "who=Ada"], &[]).stdout, "user:\n  Hello Ada\n");
    assert_eq!(scripted(&["complete", "prompt", "greet", "who=B"], &[]).stdout, "Bern\nBasel\n");
}

#[test]
fn a_prompt_is_checked_before_it_is_asked_for() {
    insta::assert_snapshot!(scripted(&["prompt", "greet", "hwo=Ada"], &[]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E203]: `greet` was not asked for:
          there is no argument `hwo`; did you mean `who`?
          missing: `who`
        hint: Check the arguments against the tool's schema
        hint: --no-check requests it anyway
        ");
}

#[test]
fn the_servers_environment_is_what_was_given_and_little_else() {
    let shown = |args: &[&str], name: &str| {
        let name = format!("name={name}");
        let args: Vec<&str> =
            ["call", "environment", &name].into_iter().chain(args.iter().copied()).collect();
        scripted(&args, &[("TOKEN", "s3cret")]).stdout
    };
    assert_eq!(shown(&[], "TOKEN"), "(not set)\n");
    assert_eq!(shown(&["--env", "GIVEN=x{env:TOKEN}${TOKEN}"], "GIVEN"), "xs3crets3cret\n");
}

#[test]
fn every_frame_is_traced() {
    let run = scripted(&["call", "echo", "message=hi", "--trace", "--ids", "int", "--era", "legacy"], &[]);
    let arrows: Vec<&str> = run.stderr.lines().map(|line| line.split(' ').next().unwrap()).collect();
    // initialize, initialized, tools/list, tools/call: three answers and four frames sent.
    assert_eq!(arrows, ["→", "←", "→", "→", "←", "→", "←"], "{}", run.stderr);
    assert!(run.stderr.contains(r#""method":"tools/call""#), "{}", run.stderr);
}

#[test]
fn the_revision_comes_from_the_environment() {
    let run = scripted(&["list", "tools"], &[("MCP_PROTOCOL_VERSION", "2025-06-18")]);
    assert!(run.stdout.starts_with("scripted 1.2.3 · MCP 2025-06-18 · stdio\n"), "{run}");
    let run = scripted(&["list"], &[("MCP_PROTOCOL_VERSION", "1999-01-01")]);
    insta::assert_snapshot!(run, @r"
        exit 2
        --- stdout
        --- stderr
        error: MCP_PROTOCOL_VERSION: `1999-01-01` is not a protocol revision; known ones: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
        ");
}

#[test]
fn what_was_found_out_is_kept_between_runs() {
    let cache = tempfile::tempdir().unwrap();
    let variables = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
    assert!(scripted(&["list", "tools"], &variables).log.contains("server/discover"));
    assert!(!scripted(&["list", "tools"], &variables).log.contains("server/discover"));
    assert!(scripted(&["list", "tools", "--no-cache"], &variables).log.contains("server/discover"));
}

#[test]
fn arguments_come_from_standard_input() {
    let run = Run::of(
        trunkline(&[]).args(["call", "echo", "@-", "--"]).args(support::server()),
        r#"{"message":"piped"}"#,
    );
    assert_eq!(run.stdout, "piped\n", "{run}");
}
