"""A legacy server whose answers are odd, over stdio, or over HTTP if a file for its port is given."""

import http.server
import json
import pathlib
import sys
import time

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("good", "garbled", "flood", "busy", "limited")]
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
FLOOD = 60_000
# Calls of the tool `limited`; the first one is refused.
calls = []


def answer(request):
    """The result as bytes; `None` without one."""
    method = request["method"]
    if method == "initialize":
        offered = {"tools": {"listChanged": True}}
        me = {"name": "odd", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": offered, "serverInfo": me}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": request["params"]["name"] + " was called"}]}
    elif method == "ping":
        result = {}
    else:
        error = {"code": -32601, "message": "unknown"}
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode()
    text = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
    return text.replace(b"garbled was", b"garbled \xff\xfe was")


def name_of(request):
    return request.get("params", {}).get("name") if request.get("method") == "tools/call" else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in request:
            return self.say(202, b"")
        if name_of(request) == "busy":
            return self.say(503, b"busy", {"Retry-After": "7"})
        if name_of(request) == "limited":
            calls.append(time.monotonic())
            if len(calls) == 1:
                return self.say(429, b"too often", {"Retry-After": "1"})
            if calls[1] - calls[0] < 1:
                return self.say(400, b"too soon")
        return self.say(200, answer(request), {"Content-Type": "application/json"})

    def do_GET(self):
        self.say(405, b"")

    def say(self, status, body, headers={}):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if len(sys.argv) > 1:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    place = pathlib.Path(sys.argv[1])
    place.with_suffix(".new").write_text(str(server.server_port))
    place.with_suffix(".new").rename(place)
    server.serve_forever()

for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" not in request or "method" not in request:
        continue
    if name_of(request) == "flood":
        sys.stdout.buffer.write((json.dumps(CHANGED) + "\n").encode() * FLOOD)
    sys.stdout.buffer.write(answer(request) + b"\n")
    sys.stdout.buffer.flush()
