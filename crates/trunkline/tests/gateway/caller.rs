//! A minimal client for any revision of Streamable HTTP.

use crate::{
    door::Door,
    site::{HANG, PAUSE},
    wire::{Answer, Wire},
};
use serde_json::{Value, json};
use std::{io, time::Instant};

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

pub(crate) struct Caller {
    wire: Wire,
    path: String,
    token: Option<String>,
    pub(crate) revision: &'static str,
    pub(crate) capabilities: Value,
    pub(crate) session: Option<String>,
    /// Further headers.
    pub(crate) more: Vec<(String, String)>,
    next: u64,
}

impl Caller {
    /// Connects, and starts a session if the revision has sessions.
    pub(crate) async fn open(door: &Door, token: Option<&str>, revision: &'static str) -> Self {
        Self::at(door, "/mcp", token, revision).await
    }

    pub(crate) async fn at(door: &Door, path: &str, token: Option<&str>, revision: &'static str) -> Self {
        let mut caller = Self::silent(door, path, token, revision).await;
        caller.begin().await;
        caller
    }

    /// Connects without sending anything.
    pub(crate) async fn silent(door: &Door, path: &str, token: Option<&str>, revision: &'static str) -> Self {
        Self::connect(&door.address, path, token, revision).await
    }

    /// Like `silent`, for the gateway at this address.
    pub(crate) async fn connect(
        address: &str,
        path: &str,
        token: Option<&str>,
        revision: &'static str,
    ) -> Self {
        let wire = Wire::open(address).await.unwrap();
        let token = token.map(str::to_owned);
        let capabilities = json!({});
        let (path, more) = (path.to_owned(), Vec::new());
        Self { wire, path, token, revision, capabilities, session: None, more, next: 1000 }
    }

    /// Starts a session if the revision has sessions.
    pub(crate) async fn begin(&mut self) {
        if self.revision == MODERN {
            return;
        }
        let params = json!({
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "by-hand", "version": "1"},
        });
        let answer = self.ask(&json!(0), "initialize", params).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.messages()[0]["result"]["protocolVersion"], self.revision, "{}", answer.text());
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        let heard = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let headers = self.headers("", &Value::Null);
        let answer = self.wire.send(&format!("POST {}", self.path), &headers, &heard).await.unwrap();
        assert_eq!(answer.status, 202, "{}", answer.text());
    }

    /// Sends a request, and returns the messages up to its response.
    pub(crate) async fn ask(&mut self, id: &Value, method: &str, mut params: Value) -> io::Result<Answer> {
        if self.revision == MODERN {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "by-hand", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let headers = self.headers(method, &params);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        self.wire.send(&format!("POST {}", self.path), &headers, &body).await
    }

    fn headers(&self, method: &str, params: &Value) -> String {
        let mut headers =
            String::from("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n");
        let mut add = |name: &str, value: &str| headers.extend([name, ": ", value, "\r\n"]);
        if let Some(token) = &self.token {
            add("Authorization", &format!("Bearer {token}"));
        }
        if method != "initialize" {
            add("MCP-Protocol-Version", self.revision);
        }
        if let Some(session) = &self.session {
            add("Mcp-Session-Id", session);
        }
        self.more.iter().for_each(|(name, value)| add(name, value));
        if self.revision == MODERN {
            add("Mcp-Method", method);
            if let Some(name) = ["name", "uri", "taskId"].iter().find_map(|member| params[*member].as_str()) {
                add("Mcp-Name", name);
            }
        }
        headers
    }

    /// Sends a request, and returns the last message, its response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        let answer = self.ask(&id, method, params).await.unwrap();
        let mut messages = answer.messages();
        let last = messages.pop().unwrap_or_else(|| panic!("{method}: {} {}", answer.status, answer.text()));
        assert_eq!(last["id"], id, "{last:#}");
        last
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Calls a tool that must not fail, and returns its text.
    pub(crate) async fn said(&mut self, tool: &str, arguments: Value) -> String {
        let message = self.call(tool, arguments).await;
        text(&message).unwrap_or_else(|| panic!("{tool}: {message:#}"))
    }

    /// Calls a tool until it succeeds.
    pub(crate) async fn insist(&mut self, tool: &str, arguments: Value) -> String {
        let began = Instant::now();
        loop {
            let message = self.call(tool, arguments.clone()).await;
            if let Some(text) = text(&message) {
                return text;
            }
            assert!(began.elapsed() < HANG, "{tool}: {message:#}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The names of all tools.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        let mut params = json!({});
        loop {
            let message = self.request("tools/list", params).await;
            let tools = message["result"]["tools"].as_array().unwrap_or_else(|| panic!("{message:#}"));
            names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            let Some(cursor) = message["result"]["nextCursor"].as_str() else { return names };
            params = json!({ "cursor": cursor });
        }
    }
}

/// The text of a successful result.
pub(crate) fn text(message: &Value) -> Option<String> {
    let result = &message["result"];
    if result["isError"] == true {
        return None;
    }
    result["content"][0]["text"].as_str().map(str::to_owned)
}
