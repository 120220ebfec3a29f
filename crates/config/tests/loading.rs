//! From files to settings.

mod support;

use serde_json::json;
use support::Place;
use trunkline_config::{Layer, OAuth, Pack, Reach, Sessions, Start, StorePlace};

const SEED: &str = r#"{
  "mcp": {
    "servers": {
      "github": {
        "type": "local",
        "command": ["npx", "-y", "@modelcontextprotocol/server-github"],
        "environment": { "GITHUB_TOKEN": "{env:GITHUB_TOKEN}" },
        "enabled": true,
        "timeout": 30000
      },
      "remote-tools": {
        "type": "remote",
        "url": "https://api.example.com/mcp",
        "headers": { "Authorization": "Bearer {env:API_KEY}" },
        "oauth": {
          "clientId": "client-id",
          "authEndpoint": "https://auth.example.com/oauth/authorize",
          "tokenEndpoint": "https://auth.example.com/oauth/token"
        },
        "enabled": true,
        "timeout": 60000
      },
      "files": { "type": "builtin", "pack": "filesystem", "root": "..", "write": true }
    }
  }
}"#;

#[test]
fn a1_the_servers_of_the_seed_are_read_as_it_writes_them() {
    let place = Place::project(SEED).variable("GITHUB_TOKEN", "t0k").variable("API_KEY", "k3y");
    let settings = place.settings();
    let server = |name: &str| &settings.servers[&name.parse().unwrap()];
    let Reach::Local(local) = &server("github").reach else { panic!("it is local") };
    assert_eq!(local.program.expose(), "npx");
    assert_eq!(local.arguments[1].expose(), "@modelcontextprotocol/server-github");
    assert_eq!(local.environment["GITHUB_TOKEN"].expose(), "t0k");
    assert_eq!(local.directory, place.path("project"));
    assert_eq!(server("github").options.timeout.request.as_secs(), 30);
    assert_eq!(server("github").options.timeout.startup.as_secs(), 30);
    let Reach::Remote(remote) = &server("remote-tools").reach else { panic!("it is remote") };
    assert_eq!(remote.headers["Authorization"].expose(), "Bearer k3y");
    let OAuth::Auto(oauth) = &remote.oauth else { panic!("it is on") };
    assert_eq!(oauth.client_id.as_deref(), Some("client-id"));
    assert_eq!(oauth.token_endpoint.as_deref(), Some("https://auth.example.com/oauth/token"));
    let Reach::Builtin(files) = &server("files").reach else { panic!("it is ours") };
    assert_eq!((files.pack, files.write), (Pack::Filesystem, true));
    assert_eq!(files.roots, [place.path("project/..")]);
    let printed = format!("{settings:?} {}", serde_json::to_string(&settings).unwrap());
    assert!(!printed.contains("t0k") && !printed.contains("k3y"), "{printed}");
}

#[test]
fn without_any_file_there_are_only_defaults() {
    let settings = Place::new().settings();
    assert!(settings.servers.is_empty() && settings.views.is_empty() && settings.listen.is_none());
    assert_eq!(settings.limits.body_bytes, 10 * 1024 * 1024);
    assert_eq!((settings.defaults.start, settings.defaults.sessions), (Start::Lazy, Sessions::Caller));
}

#[test]
fn higher_layers_win_value_by_value() {
    let place = Place::project(r#"{"limits": {"calls": 3, "parked": 3}, "listen": "127.0.0.1:3"}"#)
        .user(r#"{"limits": {"calls": 2, "parked": 2, "sessions": 2}, "audit": {"enabled": false}}"#)
        .variable("TRUNKLINE_LIMITS_PARKED", "4")
        .variable("TRUNKLINE_LISTEN", "127.0.0.1:4")
        .flag("--listen", "listen", json!("127.0.0.1:5"));
    let loaded = place.load().unwrap();
    let limits = &loaded.settings.limits;
    assert_eq!((limits.calls, limits.parked, limits.sessions, limits.connections), (3, 4, 2, 1024));
    assert_eq!(loaded.settings.listen.unwrap().port(), 5);
    assert!(!loaded.settings.audit.enabled);
    let layer = |path: &[&str]| loaded.layered.origin(path).unwrap().layer;
    assert_eq!(layer(&["listen"]), Layer::Flags);
    assert_eq!(layer(&["limits", "parked"]), Layer::Environment);
    assert_eq!(layer(&["limits", "calls"]), Layer::Project);
    assert_eq!(layer(&["limits", "sessions"]), Layer::User);
    assert_eq!(layer(&["limits", "connections"]), Layer::BuiltIn);
    let origin = loaded.layered.origin(&["limits", "calls"]).unwrap();
    assert_eq!(origin.position.map(|at| (at.line, at.column)), Some((1, 22)));
}

#[test]
fn a_server_is_written_anew_or_adjusted_but_never_mixed() {
    let user = r#"{"mcp": {"servers": {
        "a": {"url": "https://mine/", "headers": {"Authorization": "Bearer my-own-token"}, "concurrency": 3},
        "b": {"command": ["b"], "timeout": {"startup": "5s"}}}}}"#;
    let project =
        r#"{"mcp": {"servers": {"a": {"url": "https://theirs/"}, "b": {"timeout": "7s", "deny": ["rm"]}}}}"#;
    let settings = Place::project(project).user(user).settings();
    let Reach::Remote(a) = &settings.servers[&"a".parse().unwrap()].reach else { panic!("it is remote") };
    assert_eq!(
        (a.url.expose(), a.headers.len()),
        ("https://theirs/", 0),
        "no header goes to another address"
    );
    let b = &settings.servers[&"b".parse().unwrap()];
    assert_eq!((b.options.timeout.startup.as_secs(), b.options.timeout.request.as_secs()), (5, 7));
    assert_eq!((b.deny.as_slice(), matches!(b.reach, Reach::Local(_))), (["rm".to_owned()].as_slice(), true));
}

#[test]
fn defaults_hold_for_servers_that_say_nothing_else() {
    let settings = Place::project(
        r#"{"defaults": {"timeout": "2s", "sessions": "shared", "idleStop": 0}, "mcp": {"servers": {
            "a": {"command": ["a"]}, "b": {"command": ["b"], "sessions": "caller", "timeout": {"request": "20m"},
              "tools": {"slow": {"timeout": "1h", "idempotent": true}, "*": {"hide": true}}}}}}"#,
    )
    .settings();
    let [a, b] = ["a", "b"].map(|name| &settings.servers[&name.parse().unwrap()]);
    assert_eq!((a.options.sessions, b.options.sessions), (Sessions::Shared, Sessions::Caller));
    assert_eq!((a.options.timeout.request.as_secs(), a.options.idle_stop), (2, None));
    assert_eq!(b.options.timeout.ceiling.as_secs(), 20 * 60, "a ceiling that nobody chose gives way");
    let order: Vec<&str> = b.tools.iter().map(|rule| rule.tool.as_str()).collect();
    assert_eq!(order, ["slow", "*"], "the first that fits decides, so the order stays");
    assert_eq!(b.timeouts(Some(&b.tools[0].change)).ceiling.as_secs(), 3600);
}

#[test]
fn a_server_that_is_switched_off_needs_no_variables() {
    let text = r#"{"mcp": {"servers": {"a": {"enabled": false, "command": ["x", "{env:NOPE}"]}, "b": {"command": ["b"]}}}}"#;
    let settings = Place::project(text).settings();
    assert_eq!((settings.servers.len(), settings.disabled[0].to_string()), (1, "a".to_owned()));
}

#[test]
fn references_stand_for_variables_defaults_and_files() {
    let text = r#"{"mcp": {"servers": {"a": {"command": ["x", "${A}-{env:B}", "${C:-d}", "$${A}"],
        "environment": {"KEY": "{file:key}", "TILDE": "{file:~/key}"}, "cwd": "sub"}}}}"#;
    let place = Place::project(text).variable("A", "1").variable("B", "${A}").variable("C", "");
    std::fs::create_dir(place.path("home")).unwrap();
    let place = place.file("project/key", "k3y\n").file("home/key", "t1lde");
    let settings = place.settings();
    let Reach::Local(local) = &settings.servers[&"a".parse().unwrap()].reach else { panic!("it is local") };
    let words: Vec<&str> = local.arguments.iter().map(trunkline_config::Secret::expose).collect();
    assert_eq!(words, ["1-${A}", "d", "${A}"], "what a variable holds is not looked at again");
    assert_eq!((local.environment["KEY"].expose(), local.environment["TILDE"].expose()), ("k3y", "t1lde"));
    assert_eq!(local.directory, place.path("project/sub"));
}

#[test]
fn v01_only_servers_that_differ_are_changed_by_a_reload() {
    let before = r#"{"mcp": {"servers": {"same": {"command": ["s", "${T}"]}, "gone": {"command": ["g"]}, "other": {"command": ["o"]}}}}"#;
    let after = r#"{ // moved, and commented
        "mcp": {"servers": {"new": {"command": ["n"]}, "other": {"command": ["o", "2"]}, "same": {"command": ["s", "{env:T}"], "concurrency": 512}}}}"#;
    let load = |text: &str, value: &str| {
        let place = Place::new().file("project/trunkline.json", text);
        let mut settings = place.variable("T", value).settings();
        // Each place of this test has a separate directory.
        for server in settings.servers.values_mut() {
            if let Reach::Local(local) = &mut server.reach {
                local.directory = "/".into();
            }
        }
        settings
    };
    let changes = load(before, "1").server_changes(&load(after, "1"));
    let names =
        |names: &[trunkline_protocol::ServerName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (names(&changes.added), names(&changes.removed), names(&changes.changed)),
        (vec!["new".into()], vec!["gone".into()], vec!["other".into()])
    );
    let secret = load(before, "1").server_changes(&load(before, "2"));
    assert_eq!(names(&secret.changed), ["same"], "a changed secret is a change");
}

#[test]
fn v01_an_invalid_file_gives_no_settings_but_still_says_what_to_watch() {
    let rejected = Place::project("{").approved().load().unwrap_err();
    assert!(rejected.watched.iter().any(|seen| seen.path.ends_with("project/trunkline.json")));
    assert!(
        rejected.watched.iter().any(|seen| seen.path.ends_with("project/deep/trunkline.json")),
        "one may appear nearer"
    );
    assert!(rejected.watched.iter().any(|seen| seen.path.ends_with("user/trunkline.json")));
}

#[test]
fn v04_no_variable_and_no_value_of_a_request_can_add_a_server() {
    let place = Place::new()
        .variable("TRUNKLINE_MCP_SERVERS", r#"{"x": {"command": ["evil"]}}"#)
        .variable("TRUNKLINE_MCP", r#"{"servers": {"x": {"command": ["evil"]}}}"#);
    let loaded = place.load().unwrap();
    assert!(loaded.settings.servers.is_empty());
    assert_eq!(loaded.warnings.len(), 2, "both are said to set nothing");
}

/// Settings can be serialized, but not read from a message: no type that holds a command
/// implements `Deserialize`. If one does, the call becomes ambiguous and this does not compile.
#[test]
fn v04_no_message_can_become_a_server() {
    trait NotReadable<Marker> {
        fn not_readable() {}
    }
    impl<T: ?Sized> NotReadable<()> for T {}
    impl<T: serde::de::DeserializeOwned> NotReadable<u8> for T {}
    <trunkline_config::Settings as NotReadable<_>>::not_readable();
    <trunkline_config::Server as NotReadable<_>>::not_readable();
    <Reach as NotReadable<_>>::not_readable();
    <trunkline_config::Local as NotReadable<_>>::not_readable();
    <trunkline_config::Remote as NotReadable<_>>::not_readable();
    <trunkline_config::Loaded as NotReadable<_>>::not_readable();
}

#[test]
fn the_store_is_in_memory_in_a_file_or_at_an_address_whose_password_is_not_shown() {
    let place = Place::project("{}");
    assert_eq!(place.settings().store, StorePlace::Memory);
    let place = Place::project(r#"{"store": {"path": "state/store.redb"}}"#);
    assert_eq!(place.settings().store, StorePlace::Path(place.path("project/state/store.redb")));
    for written in ["redis://:{env:PW}@h:6379/0", "redis://:hunter22@h:6379/0"] {
        let place =
            Place::project(&format!(r#"{{"store": {{"url": "{written}"}}}}"#)).variable("PW", "hunter22");
        let settings = place.settings();
        let StorePlace::Url(url) = &settings.store else { panic!("{:?}", settings.store) };
        assert_eq!(url.expose(), "redis://:hunter22@h:6379/0");
        let printed = format!("{settings:?} {}", serde_json::to_string(&settings).unwrap());
        assert!(!printed.contains("hunter22"), "{printed}");
    }
}
