//! A server that forgets its sessions: the call that it refused with 404 did not run, so it is
//! repeated in a new session.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    site::{Site, until},
};
use serde_json::json;
use std::{
    fs,
    process::{Child, Command},
};

/// A legacy server that forgets a session after its first call. The file `ran` gets a character for
/// each call that ran, `begun` one for each session.
const SERVER: &str = r#"
import http.server, json, os

known, begun = set(), 0

def note(name):
    with open(name, "a") as file:
        file.write("x")

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def reply(self, status, message=None, session=None):
        body = json.dumps(message).encode() if message else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(405)

    def do_POST(self):
        global begun
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, session = message.get("method"), self.headers.get("Mcp-Session-Id")
        answer = {"jsonrpc": "2.0", "id": message.get("id")}
        if method == "initialize":
            begun += 1
            known.add(f"s{begun}")
            note("begun")
            info = {"name": "forgetful", "version": "1"}
            answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            return self.reply(200, answer, f"s{begun}")
        if session is None:
            answer["error"] = {"code": -32600, "message": "no session"}
            return self.reply(400, answer)
        if session not in known:
            answer["error"] = {"code": -32001, "message": "Session not found"}
            return self.reply(404, answer)
        if "id" not in message:
            return self.reply(202)
        if method == "tools/list":
            answer["result"] = {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            known.discard(session)
            note("ran")
            answer["result"] = {"content": [{"type": "text", "text": session}]}
        else:
            answer["result"] = {}
        self.reply(200, answer)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename("port.new", "port")
server.serve_forever()
"#;

/// The server, which is killed at the end of the test.
struct Forgetful(Child);

impl Drop for Forgetful {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts the server and returns its URL.
async fn forgetful(site: &Site) -> (Forgetful, String) {
    site.write("server.py", SERVER);
    let mut command = Command::new("python3");
    let process = Forgetful(command.arg("server.py").current_dir(site.folder.path()).spawn().unwrap());
    let port = site.path("port");
    until(|| port.exists(), || "it does not listen".to_owned()).await;
    (process, format!("http://127.0.0.1:{}/mcp", fs::read_to_string(port).unwrap()))
}

/// Makes four calls, each of which but the first meets a forgotten session.
async fn each_call_runs_once(site: &Site, mut command: Command, tool: &str) {
    for revision in [MODERN, LEGACY] {
        let before = fs::read(site.path("ran")).map_or(0, |ran| ran.len());
        let mut door = Door::start(&mut command);
        let mut caller = Caller::open(&door, None, revision).await;
        let mut sessions = vec![caller.insist(tool, json!({})).await];
        for _ in 0..3 {
            sessions.push(caller.said(tool, json!({})).await);
        }
        door.stop().await;
        sessions.dedup();
        assert_eq!(sessions.len(), 4, "{sessions:?}");
        assert_eq!(fs::read(site.path("ran")).unwrap().len() - before, 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_repeats_a_call_once_in_a_new_session() {
    let site = Site::new("forgotten");
    let (_server, url) = forgetful(&site).await;
    site.configure(&json!({"mcp": {"servers": {"s": {"url": url}}}}));
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]).arg(site.path("trunkline.json"));
    each_call_runs_once(&site, command, "s_run").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_repeats_a_call_once_in_a_new_session() {
    let site = Site::new("forgotten-bridge");
    let (_server, url) = forgetful(&site).await;
    let mut command = site.binary();
    command.args(["bridge", "--json", "--listen", "127.0.0.1:0", &url]);
    each_call_runs_once(&site, command, "run").await;
}
