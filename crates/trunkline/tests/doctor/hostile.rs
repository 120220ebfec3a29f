//! K01: with every hostile server, the doctor ends in time, uses little memory, and executes
//! nothing that the server sends.

use crate::{
    scripts::server_with,
    site::{Said, Site, mcp, reply},
    visit::{Folder, about},
};
use std::{
    io::Write,
    time::{Duration, Instant},
};

/// Upper limit for an examination with two-second steps, even on a busy machine.
const IN_TIME: Duration = Duration::from_mins(1);

/// Examines a script, and asserts that this ended in time.
fn in_time(body: &str) {
    let folder = Folder::new();
    let script = folder.script("server", body);
    let start = Instant::now();
    let visit = folder.visit(&["--timeout", "2s", "--connect-timeout", "2s", "--", &script], &[]);
    assert!(start.elapsed() < IN_TIME, "{body}: {:?}", start.elapsed());
    assert_ne!(visit.code, 0, "{body}: {:#}", visit.said);
}

#[test]
fn k01_processes_that_flood_stall_or_refuse_to_die() {
    let bodies = [
        "trap '' TERM HUP INT; while :; do sleep 1; done",
        "yes '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'",
        "yes 'log line'",
        "yes 'error' >&2",
        "exec 1>&-; sleep 100",
        "sleep 100 & exit 0",
    ];
    std::thread::scope(|scope| {
        for body in bodies {
            scope.spawn(move || in_time(body));
        }
    });
}

#[test]
fn k01_lists_that_never_end() {
    let endless = "answer '\"result\":{\"tools\":[],\"nextCursor\":\"'$id$RANDOM$(date +%N)'\"}'";
    in_time(&server_with("tools/list", endless));
}

#[test]
fn k01_hostile_texts_reach_neither_terminal_nor_shell() {
    let folder = Folder::new();
    let marker = folder.path().join("owned");
    let text =
        format!("printf '\\033]0;owned\\007$(touch {0}) `touch {0}`\\n' >&2; exit 1", marker.display());
    let script = folder.script("server", &text);
    let mut command = folder.command(&["--", &script], &[]);
    let plain: Vec<_> = command.get_args().filter(|arg| *arg != "--json").map(ToOwned::to_owned).collect();
    let mut bare = std::process::Command::new(command.get_program());
    bare.env_clear().env("PATH", "/usr/bin:/bin").current_dir(folder.path()).args(plain);
    let output = bare.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
    assert!(shown.contains("␛]0;owned"), "{shown}");
    assert!(command.output().is_ok() && !marker.exists());
}

#[test]
fn k01_sites_that_flood_drip_or_point_elsewhere() {
    let flood = Site::raw("127.0.0.1:0", |mut stream| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let event = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n".repeat(1000);
        if stream.write_all(head).is_ok() {
            while stream.write_all(&event).is_ok() {}
        }
    });
    let drip = Site::raw("127.0.0.1:0", |mut stream| {
        while stream.write_all(b"H").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let endless = Site::new(|_| {
        Said::Whole(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{}",
            " ".repeat(10 << 20)
        ))
    });
    for site in [flood, drip, endless] {
        let start = Instant::now();
        let visit =
            Folder::new().visit(&["--timeout", "2s", "--connect-timeout", "2s", &site.url("/mcp")], &[]);
        assert!(start.elapsed() < IN_TIME, "{:?}", start.elapsed());
        assert_eq!(visit.code, 3, "{:#}", visit.said);
    }
}

#[test]
fn k01_a_redirect_to_another_host_is_not_followed() {
    let other = Site::new(|asked| panic!("asked: {asked:?}"));
    let place = other.url("/mcp");
    let site = Site::new(move |_| reply(307, &format!("location: {place}"), ""));
    about(&site.url("/mcp")).names("redirect-elsewhere", 3, "if you trust it");
}

#[test]
fn k02_secrets_of_ours_stay_out_of_the_report() {
    let site = Site::new(|asked| {
        let sent = asked
            .head
            .split("x-api-key: ")
            .nth(1)
            .and_then(|rest| rest.lines().next())
            .unwrap_or_default()
            .to_owned();
        if asked.path == "/mcp" { reply(500, "", &format!("you sent {sent}")) } else { mcp(asked) }
    });
    let visit = Folder::new().visit(&["-H", "X-Api-Key: canary-123456", &site.url("/mcp")], &[]);
    visit.names("server-error", 3, "log");
    assert!(
        visit.said.to_string().contains("you sent •••") && !visit.said.to_string().contains("canary"),
        "{:#}",
        visit.said
    );
    let folder = Folder::new();
    let script = folder.script("server", "echo \"key=$MY_KEY\" >&2; exit 1");
    let visit = folder.visit(&["--env", "MY_KEY=canary-abcdef", "--", &script], &[]);
    assert!(!visit.said.to_string().contains("canary"), "{:#}", visit.said);
}
