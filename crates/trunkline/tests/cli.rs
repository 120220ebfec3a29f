//! The real binary, against a scripted server: what people and programs see of it.

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
        error[E203]: `times` takes an integer, but `x` is none; `times:=…` takes any JSON
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
        hint: `trunkline list … tools --schema` shows the schema; --no-check sends the call all the same
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
          it exited with status 7; its last words:
          the reactor melted
        hint: Look at what it wrote to its error output
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
        hint: --no-check asks for it all the same
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

#[test]
fn a_name_is_told_to_wait_for_the_configuration() {
    insta::assert_snapshot!(Run::of(trunkline(&[]).args(["call", "files", "echo"]), ""), @r"
        exit 2
        --- stdout
        --- stderr
        error: `files` is not an address
        hint: servers get names with the configuration file, which a later release brings; until then give an address, or a command after `--`
        ");
}

#[test]
fn usage_errors_are_exit_two() {
    for args in [
        &["list"][..],
        &["call", "--", "server"],
        &["read", "http://127.0.0.1:9/"],
        &["prompt", "http://127.0.0.1:9/"],
        &["complete", "http://127.0.0.1:9/", "tool", "x", "a=b"],
        &["list", "http://127.0.0.1:9/", "--header", "no colon"],
        &["list", "http://127.0.0.1:9/", "--env", "A=1"],
        &["list", "--header", "A: b", "--", "server"],
        &["list", "http://127.0.0.1:9/${NOT_SET_AT_ALL}"],
        &["list", "ftp://127.0.0.1/"],
        &["list", "http://127.0.0.1:9/", "--timeout", "soon"],
        &["list", "http://127.0.0.1:9/", "--era", "stone"],
        &["list", "http://127.0.0.1:9/", "--log-level", "loud"],
        &["serve"],
        &["man", "nonesuch"],
        &["frobnicate"],
    ] {
        let run = Run::of(trunkline(&[]).args(args), "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}\n{run}");
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn no_connection_is_exit_three() {
    insta::assert_snapshot!(Run::of(trunkline(&[]).args(["list", "http://127.0.0.1:9/mcp"]), ""), @r"
        exit 3
        --- stdout
        --- stderr
        error[E216]: The server cannot be reached
          cannot connect to 127.0.0.1:9: nothing listens there; is the server running, and is the port right?
        hint: Check the address or command, and that the server runs
        ");
    let run = Run::of(trunkline(&[]).args(["list", "--", "/nowhere/at-all"]), "");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.starts_with("error[E219]"), "{run}");
}

#[test]
fn failures_are_json_on_standard_error_when_json_is_wanted() {
    let run = Run::of(trunkline(&[]).args(["list", "http://127.0.0.1:9/mcp", "--json"]), "");
    let value: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&value["error"]["code"], &value["exit_code"]), (&"E216".into(), &3.into()));
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
}

#[test]
fn serve_says_when_it_comes_and_what_works_today() {
    insta::assert_snapshot!(Run::of(trunkline(&[]).args(["serve", "--port", "80"]), ""), @r"
        exit 2
        --- stdout
        --- stderr
        error: `serve` comes with the next release; this one is a client
        hint: these work today: list, call, read, prompt, complete
        hint: try: trunkline list -- npx -y @modelcontextprotocol/server-everything
        ");
}

#[test]
fn the_help_of_call_shows_both_forms() {
    let run = Run::of(trunkline(&[]).args(["call", "-h"]), "");
    insta::assert_snapshot!(run, @r"
        exit 0
        --- stdout
        Call a tool

        Usage: trunkline call [OPTIONS] <URL> <TOOL> [ARGUMENT]...
               trunkline call [OPTIONS] <TOOL> [ARGUMENT]... -- <COMMAND>...

        Arguments:
          [TARGET TOOL ARGUMENT]...  The server's address, the tool's name, and its arguments
          [COMMAND]...               The command that starts the server, instead of an address

        Options:
              --no-check    Send the arguments without looking at the tool's schema; plain values are text
                            then
              --out <PATH>  Save images, sound and other bytes: in this directory, or as this file
          -h, --help        Print help (see more with '--help')

        Connection:
          -H, --header <HEADER>         Send this HTTP header with every request, as `Name: value`; may be
                                        repeated
          -e, --env <VARIABLE>          Give the server's process this variable, as `NAME=VALUE`; may be
                                        repeated
              --cwd <DIR>               Start the server's process in this directory
              --timeout <TIME>          How long a call may go without an answer or progress, such as `30s`
                                        or `5m` [default: 1m]
              --connect-timeout <TIME>  How long connecting may take, a download by npx or uvx included
                                        [default: 60s]
              --era <ERA>               Which era of the protocol to speak: with or without the `initialize`
                                        handshake [possible values: auto, legacy, modern]
              --cacert <FILE>           Trust the certificates in this PEM file, too; may be repeated
              --cert <FILE>             Show this certificate to the server (PEM)
              --key <FILE>              The key of the certificate (PEM)
              --ids <KIND>              How request ids are made [default: uuid] [possible values: uuid,
                                        int]
              --trace                   Print every frame to standard error, with its direction and time
              --log-level <LEVEL>       Print the server's log messages from this level on: debug, info,
                                        notice, warning, error, critical, alert, emergency
              --no-cache                Neither use nor keep what was found out about servers before

        Answers to the server's questions:
              --answer <ANSWER>  Answer this field of a form, as `FIELD=VALUE`, without asking on the
                                 terminal; may be repeated
              --root <DIR>       Tell the server of this directory as a root; may be repeated
              --sample           Show what the server asks of a language model, and let me type the model's
                                 answer

        Output:
              --json          Print JSON: results as the server gave them, and failures as one object on
                              standard error
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]
          -v, --verbose...    Tell more about what happens; twice for everything
          -q, --quiet         Tell only about failures
        --- stderr
        ");
}

#[test]
fn pages_completions_and_manuals_are_generated() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::of(trunkline(&[]).arg("__gen").arg(folder.path()), "");
    assert_eq!(run.code, 0, "{run}");
    for (file, holds) in [
        ("docs/cli.md", "## complete"),
        ("docs/errors.md", "### E216 cannot-connect"),
        ("completions/trunkline.bash", "_trunkline()"),
        ("completions/_trunkline", "#compdef trunkline"),
        ("completions/trunkline.fish", "complete -c trunkline"),
        ("completions/_trunkline.ps1", "Register-ArgumentCompleter"),
        ("completions/trunkline.elv", "edit:completion"),
        ("man/trunkline.1", ".TH trunkline 1"),
        ("man/trunkline-call.1", ".TH trunkline-call 1"),
    ] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        assert!(text.contains(holds), "{file}");
    }
    let printed = Run::of(trunkline(&[]).args(["man", "call"]), "").stdout;
    assert_eq!(printed, std::fs::read_to_string(folder.path().join("man/trunkline-call.1")).unwrap());
    assert!(Run::of(trunkline(&[]).args(["completions", "bash"]), "").stdout.contains("_trunkline()"));
}
