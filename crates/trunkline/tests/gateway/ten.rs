//! Ten servers from the registries of Node, Python and Rust, and one of our own.

use crate::{
    installed::installed,
    site::{HANG, Site},
};
use serde_json::{Value, json};
use std::{
    env, fs,
    io::{Read, Write},
    net::TcpListener,
    path::PathBuf,
    process::Command,
    thread,
};

const PAGE: &str = "a page for whoever fetches it";

/// A server: its name, its configuration, and a call by public name.
pub(crate) struct Real {
    pub(crate) name: &'static str,
    pub(crate) entry: Value,
    pub(crate) call: (&'static str, Value),
    /// Text that the response must contain.
    pub(crate) says: &'static str,
}

pub(crate) fn servers(site: &Site) -> Vec<Real> {
    let place = site.path("repository");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("hello.txt"), "hello\n").unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(&place).status().unwrap();
    assert!(git.success());
    let place = place.display().to_string();
    let own = Real {
        name: "own",
        entry: json!({"pack": "filesystem", "root": place}),
        call: ("own_read_file", json!({"path": "hello.txt"})),
        says: "hello",
    };
    let mut all = from_npm(site, &place);
    all.extend(from_pypi(site, &place));
    all.extend([frameworks(site), vec![own]].into_iter().flatten());
    all
}

fn from_npm(site: &Site, place: &str) -> Vec<Real> {
    let program = |name: &str| installed(&format!("npm/node_modules/.bin/{name}")).display().to_string();
    let everything = vec![program("mcp-server-everything"), "stdio".into()];
    let filesystem = vec![program("mcp-server-filesystem"), place.to_owned()];
    let thinking = vec![program("mcp-server-sequential-thinking")];
    let memory = vec![program("mcp-server-memory")];
    let thought =
        json!({"thought": "it is", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    let mut memory = Real {
        name: "memory",
        entry: site.local("memory", &memory),
        call: ("memory_read_graph", json!({})),
        says: "entities",
    };
    memory.entry["environment"]["MEMORY_FILE_PATH"] = site.path("memory.jsonl").display().to_string().into();
    vec![
        Real {
            name: "everything",
            entry: site.local("everything", &everything),
            call: ("everything_echo", json!({"message": "heard"})),
            says: "heard",
        },
        Real {
            name: "filesystem",
            entry: shared(site.local("filesystem", &filesystem)),
            call: ("filesystem_list_directory", json!({ "path": place })),
            says: "hello.txt",
        },
        memory,
        Real {
            name: "thinking",
            entry: shared(site.local("thinking", &thinking)),
            call: ("thinking_sequentialthinking", thought),
            says: "thoughtNumber",
        },
    ]
}

fn from_pypi(site: &Site, place: &str) -> Vec<Real> {
    let program = |name: &str| installed(&format!("python/bin/{name}")).display().to_string();
    let git = vec![program("mcp-server-git"), "-r".into(), place.to_owned()];
    let time = vec![program("mcp-server-time"), "--local-timezone".into(), "UTC".into()];
    // The fetched page is on this machine, which the server refuses without this option.
    let fetch = vec![program("mcp-server-fetch"), "--ignore-robots-txt".into(), "--allow-private-ips".into()];
    vec![
        Real {
            name: "git",
            entry: shared(site.local("git", &git)),
            call: ("git_git_status", json!({ "repo_path": place })),
            says: "hello.txt",
        },
        Real {
            name: "time",
            entry: shared(site.local("time", &time)),
            call: ("time_get_current_time", json!({"timezone": "UTC"})),
            says: "UTC",
        },
        Real {
            name: "fetch",
            entry: shared(site.local("fetch", &fetch)),
            call: ("fetch_fetch", json!({"url": page_address()})),
            says: PAGE,
        },
    ]
}

/// Test servers built with other libraries.
fn frameworks(site: &Site) -> Vec<Real> {
    let script = format!("{}/../testkit/peers/fastmcp_server.py", env!("CARGO_MANIFEST_DIR"));
    let fastmcp = vec![installed("python/bin/python").display().to_string(), script];
    vec![
        Real {
            name: "fastmcp",
            entry: site.local("fastmcp", &fastmcp),
            call: ("fastmcp_echo", json!({"text": "by fastmcp"})),
            says: "by fastmcp",
        },
        Real {
            name: "rmcp",
            entry: site.local("rmcp", &[rmcp_server()]),
            call: ("rmcp_echo", json!({"text": "by rmcp"})),
            says: "by rmcp",
        },
    ]
}

/// A stateless server, so that one process serves all callers.
fn shared(mut entry: Value) -> Value {
    entry["sessions"] = "shared".into();
    entry
}

/// Serves one page for as long as the test runs.
fn page_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/page.txt", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{PAGE}",
                PAGE.len()
            );
            // The client may have disconnected.
            if stream.set_read_timeout(Some(HANG)).and_then(|()| stream.read(&mut asked)).is_ok() {
                stream.write_all(answer.as_bytes()).ok();
            }
        }
    });
    address
}

/// The path next to the test binaries; another package builds it.
pub(crate) fn rmcp_server() -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_trunkline")).with_file_name("rmcp-server");
    assert!(program.exists(), "rmcp-server is not built; run cargo build -p trunkline-testkit --bins");
    program.display().to_string()
}
