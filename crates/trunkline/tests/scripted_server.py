"""A small MCP server over stdio for tests of the command line: one behaviour per tool, both kinds of trouble included."""

import json
import os
import sys

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LOG = os.environ.get("SERVER_LOG")


def tool(name, description, properties=None, required=(), **more):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return {"name": name, "description": description, "inputSchema": schema, **more}


TOOLS = [
    tool("echo", "Says it again\nand more", {"message": {"type": "string"}, "times": {"type": "integer"}}, ["message"]),
    tool("fail", "Reports an error"),
    tool("picture", "Draws a dot"),
    tool("table", "Gives structured content"),
    tool("escape", "Sends \x1b[31mcontrol\x1b[0m characters"),
    tool("count", "Reports progress and logs"),
    tool("ask", "Asks a form"),
    tool("hang", "Never answers"),
    tool("crash", "Ends the process"),
    tool("where", "Lists the client's roots"),
    tool("environment", "Shows a variable", {"name": {"type": "string"}}, ["name"]),
    {"name": "odd", "description": "Has a broken schema", "inputSchema": {"type": 7}},
]
PROMPTS = [{"name": "greet", "arguments": [{"name": "who", "required": True}, {"name": "style"}]}]
RESOURCES = [{"uri": "demo://text", "name": "text", "mimeType": "text/plain"}]
TEMPLATES = [{"uriTemplate": "demo://{id}", "name": "by id"}]


def log(text):
    if LOG:
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        log("end of input")
        sys.exit(0)
    log(line.rstrip("\n"))
    return json.loads(line)


def ask(method, params):
    """Sends a request of our own and waits for its answer."""
    send({"id": "q1", "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == "q1":
            return message.get("result", message.get("error"))


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def call(name, arguments, meta):
    if name == "echo":
        return text(" ".join([arguments["message"]] * arguments.get("times", 1)))
    if name == "fail":
        return text("it did not work", isError=True)
    if name == "picture":
        return {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    if name == "table":
        rows = {"rows": [{"id": 1, "name": "one"}, {"id": 22222222222222222222, "name": "two"}]}
        return text(json.dumps(rows), structuredContent=rows)
    if name == "escape":
        return text("before\x1b]0;owned\x07after \x9b2J \u202egnp.exe")
    if name == "count":
        for step in (1, 2):
            params = {"progressToken": meta.get("progressToken"), "progress": step, "total": 2, "message": f"step {step}"}
            send({"method": "notifications/progress", "params": params})
            send({"method": "notifications/message", "params": {"level": "warning", "logger": "counter", "data": f"at {step}"}})
        return text("counted")
    if name == "ask":
        schema = {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 18}, "color": {"type": "string", "default": "red"}},
            "required": ["name", "age"],
        }
        return text(json.dumps(ask("elicitation/create", {"message": "Who are you?", "requestedSchema": schema})))
    if name == "where":
        return text(json.dumps(ask("roots/list", {})))
    if name == "environment":
        return text(os.environ.get(arguments["name"], "(not set)"))
    if name == "odd":
        return text(json.dumps(arguments))
    if name == "crash":
        sys.stderr.write("the reactor melted\n")
        sys.stderr.flush()
        os._exit(7)
    raise KeyError(name)


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"] if params["protocolVersion"] < "2026" else "2025-11-25",
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "logging": {}, "completions": {}},
            "serverInfo": {"name": "scripted", "version": "1.2.3"},
            "instructions": "Be kind.",
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "prompts/list":
        return {"prompts": PROMPTS}
    if method == "resources/list":
        return {"resources": RESOURCES}
    if method == "resources/templates/list":
        return {"resourceTemplates": TEMPLATES}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "the text\n", "mimeType": "text/plain"}]}
    if method == "prompts/get":
        content = {"type": "text", "text": "Hello " + params["arguments"]["who"]}
        return {"messages": [{"role": "user", "content": content}]}
    if method == "completion/complete":
        begun = params["argument"]["value"]
        return {"completion": {"values": [v for v in ("Bern", "Basel", "Chur") if v.startswith(begun)]}}
    if method in ("ping", "logging/setLevel"):
        return {}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}), params.get("_meta", {}))
    raise LookupError(method)


def main():
    while True:
        message = receive()
        if "id" not in message or "method" not in message:
            continue
        params = message.get("params", {})
        if message["method"] == "tools/call" and params["name"] == "hang":
            log("hanging")
            continue
        try:
            send({"id": message["id"], "result": answer(message["method"], params)})
        except LookupError as error:
            code = -32602 if isinstance(error, KeyError) else -32601
            send({"id": message["id"], "error": {"code": code, "message": f"not known: {error}"}})


main()
