"""A server all of whose texts try to control the terminal that shows them.

Arguments: `noisy` also logs, prints garbage and writes to standard error; `dies` ends at the start.
"""

import json
import sys

BAD = "A\x1b]0;title\x07B\x1b[2JC\u009b31mD\u202eE\U000e0041F\u200bG\x7fH\x1b[8mI"


def send(message):
    sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def tool(name):
    schema = {"type": "object", "properties": {BAD: {"type": "string", "description": BAD}}}
    return {"name": name, "title": BAD, "description": BAD, "inputSchema": schema, "_meta": {BAD: BAD}}


RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}, BAD: {}},
        "serverInfo": {"name": BAD, "title": BAD, "version": BAD},
        "instructions": BAD,
        "_meta": {BAD: BAD},
    },
    "tools/list": {"tools": [tool("ok"), tool("t" + BAD), {"name": 5, BAD: BAD}], "_meta": {BAD: BAD}},
    "resources/list": {"resources": [{"uri": "x:" + BAD, "name": BAD, "description": BAD, "mimeType": BAD}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "x:" + BAD, "name": BAD}]},
    "resources/read": {"contents": [{"uri": BAD, "text": BAD}]},
    "prompts/list": {"prompts": [{"name": "p", "description": BAD, "arguments": [{"name": BAD}]}]},
    "prompts/get": {"description": BAD, "messages": [{"role": "user", "content": {"type": "text", "text": BAD}}]},
    "completion/complete": {"completion": {"values": [BAD]}},
    "logging/setLevel": {},
    "ping": {},
}


def call(ident, name):
    send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "logger": BAD, "data": BAD}})
    if name == "ok":
        content = [{"type": "text", "text": BAD}, {"type": "x" + BAD}, {"type": "image", "data": "", "mimeType": BAD}]
        send({"jsonrpc": "2.0", "id": ident, "result": {"content": content, "structuredContent": {BAD: BAD}}})
    else:
        send({"jsonrpc": "2.0", "id": ident, "error": {"code": -32000, "message": BAD, "data": {BAD: BAD}}})


def main():
    if "dies" in sys.argv:
        sys.stderr.write(BAD + "\n")
        sys.exit(3)
    if "noisy" in sys.argv:
        sys.stderr.write(BAD + "\n")
        print(BAD, flush=True)
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "id" not in message:
            continue
        ident, method = message["id"], message.get("method")
        if method == "tools/call":
            call(ident, (message.get("params") or {}).get("name"))
        elif method in RESULTS:
            send({"jsonrpc": "2.0", "id": ident, "result": RESULTS[method]})
        else:
            send({"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": BAD, "data": BAD}})


main()
