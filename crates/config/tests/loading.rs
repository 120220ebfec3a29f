//! From files to settings.

mod support;

use serde_json::json;
use support::Place;
use trunkline_config::{Layer, OAuth, Pack, Reach, Sessions, Start};

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
    assert_eq!(local.program, "npx");
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
