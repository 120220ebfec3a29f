//! Servers are added, removed, enabled and disabled by command, and Trunkline is written into the
//! files of other clients.

use crate::site::Site;
use serde_json::{Value, json};
use std::{fs, process::Output};

fn run(site: &Site, words: &[&str]) -> Output {
    site.binary().args(words).output().unwrap()
}

fn fine(site: &Site, words: &[&str]) -> String {
    let output = run(site, words);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_change_in_the_file_and_in_the_running_gateway() {
    let site = Site::new("servers");
    let first = site.echo("first", "legacy");
    let text = json!({"mcp": {"servers": {"first": first}}, "audit": {"enabled": false}}).to_string();
    site.write("trunkline.json", &format!("// mine\n{text}\n"));
    let config = site.path("trunkline.json").display().to_string();
    let door = site.open();
    let servers = |status: &Value| -> Vec<String> {
        let upstreams = status["upstreams"].as_array().cloned().unwrap_or_default();
        upstreams.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    door.until(|status| servers(status) == ["first"]).await;
    let second = site.echo("second", "legacy");
    let command: Vec<&str> = second["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut words = vec!["add", "second", "--env", "A=b", "--config", &config, "--"];
    words.extend(&command);
    assert!(fine(&site, &words).contains("\"second\""));
    door.until(|status| servers(status) == ["first", "second"]).await;
    let again = run(&site, &words);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    fine(&site, &["disable", "first", "--config", &config]);
    door.until(|status| servers(status) == ["second"]).await;
    fine(&site, &["enable", "first", "--config", &config]);
    door.until(|status| servers(status) == ["first", "second"]).await;
    fine(&site, &["remove", "second", "--config", &config]);
    door.until(|status| servers(status) == ["first"]).await;
    let left = fs::read_to_string(&config).unwrap();
    assert!(
        left.starts_with("// mine\n") && !left.contains("second") && !left.contains("enabled\": f"),
        "{left}"
    );
}

#[test]
fn a_change_that_cannot_be_used_is_taken_back() {
    let site = Site::of("unusable", |_| json!({}));
    let config = site.path("trunkline.json").display().to_string();
    let before = fs::read_to_string(&config).unwrap();
    let refused = run(&site, &["add", "bad", "not an address", "--config", &config]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    for words in [&["remove", "nobody"][..], &["enable", "no body"][..], &["add", "x"][..]] {
        let refused = run(&site, &[words, &["--config", &config]].concat());
        assert_eq!(refused.status.code(), Some(2), "{words:?} {refused:?}");
    }
}

#[test]
fn a_client_gets_trunkline_and_loses_it_again() {
    let site = Site::new("install");
    let path = site.path(".cursor/mcp.json");
    let before = "{\n  // my servers\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } }\n}\n";
    site.write(".cursor/mcp.json", before);
    let asked = run(&site, &["install", "cursor"]);
    assert_eq!(asked.status.code(), Some(1), "nobody can be asked: {asked:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let shown = fine(&site, &["install", "cursor", "--yes"]);
    assert!(shown.contains("+ ") && shown.contains("\"--stdio\"") && shown.contains(".bak"), "{shown}");
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains("// my servers") && after.contains("\"other\""), "{after}");
    let told: Value = serde_json::from_str(&fine(&site, &["install", "cursor", "--yes", "--json"])).unwrap();
    assert_eq!(told["changed"], false, "it is there already");
    fine(&site, &["uninstall", "cursor", "--yes"]);
    let left = fs::read_to_string(&path).unwrap();
    assert!(!left.contains("trunkline") && left.contains("\"other\""), "{left}");
    assert_eq!(run(&site, &["uninstall", "cursor", "--yes"]).status.code(), Some(2));
    // A file that does not exist yet is made.
    fine(&site, &["install", "codex", "--yes", "--url", "http://127.0.0.1:8425/mcp"]);
    let made = fs::read_to_string(site.path(".codex/config.toml")).unwrap();
    assert_eq!(made, "[mcp_servers.trunkline]\nurl = \"http://127.0.0.1:8425/mcp\"\n");
}

/// Contents that cannot be edited, and two that can.
fn odd_contents() -> Vec<Vec<u8>> {
    let deep = |open: &str| open.repeat(200_000).into_bytes();
    let mut all: Vec<Vec<u8>> = ["[]", "7", "\"x\"", "{\"mcp\": {\"serv", "\0\0", "[mcp_servers\n", "x: [\n"]
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    all.extend([deep("["), deep("{\"a\":"), vec![0xff, 0xfe, b'{'], b"{\"a\":\"\xe9\"}".to_vec()]);
    for member in ["mcp", "mcpServers", "servers", "context_servers"] {
        all.push(format!("{{\"{member}\":[]}}").into_bytes());
        all.push(format!("{{\"{member}\":{{\"a\":{{}}}},\"{member}\":{{\"b\":{{}}}}}}").into_bytes());
        all.push(
            format!("{{\"{member}\":{{\"\\u001b]0;owned\\u0007\":{{}}}}, \"x\": \"\u{1b}[2J\"}}")
                .into_bytes(),
        );
    }
    all
}

#[test]
fn k02_files_with_hostile_content_stay_as_they_are_if_they_cannot_be_edited() {
    let site = Site::new("odd-files");
    let file = site.path("client.json");
    let at = file.display().to_string();
    let commands: [&[&str]; 6] = [
        &["install", "cursor", "--yes", "--file", &at],
        &["install", "codex", "--yes", "--file", &at],
        &["uninstall", "zed", "--yes", "--file", &at],
        &["add", "x", "http://127.0.0.1:1/", "--config", &at],
        &["remove", "a", "--config", &at],
        &["disable", "a", "--config", &at],
    ];
    let mut refused = 0;
    for content in odd_contents() {
        for words in commands {
            fs::write(&file, &content).unwrap();
            let output = run(&site, words);
            let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            let shown = String::from_utf8_lossy(&content[..content.len().min(60)]).into_owned();
            assert!(matches!(output.status.code(), Some(0..=2)), "{words:?} {shown}: {told}");
            assert!(!told.contains('\x1b') && !told.contains("panicked"), "{words:?} {shown}: {told}");
            if !output.status.success() {
                refused += 1;
                assert_eq!(fs::read(&file).unwrap(), content, "{words:?} {shown}: {told}");
            }
        }
    }
    assert!(refused > 60, "{refused}");
    fs::remove_file(&file).unwrap();
    for target in ["/dev/zero", "/proc/self/mem", "/tmp", "client.json"] {
        std::os::unix::fs::symlink(target, &file).unwrap();
        for words in commands {
            assert_eq!(run(&site, words).status.code(), Some(2), "{words:?} {target}");
        }
        assert!(fs::symlink_metadata(&file).unwrap().is_symlink(), "{target}");
        fs::remove_file(&file).unwrap();
    }
}
