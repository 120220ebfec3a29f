"""A small server over stdio whose answers tell whose question they answer.

    echo_server.py legacy|modern NAME [FURTHER-TOOL]...

The further tools echo, except `fail`, which answers with an internal error, and `exit`.
Requests that are there together are answered in any order, so that answers cross if something lets them.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time

LEGACY = sys.argv[1] == "legacy"
NAME = sys.argv[2]
CHUNK = 65536
PAUSE = 0.01
TEXT = {"text": {"type": "string"}}
TOOLS = {
    "echo": ({**TEXT, "steps": {"type": "integer"}}, "Says it again, and says it as progress before"),
    "gate": (
        {**TEXT, "path": {"type": "string"}, "steps": {"type": "integer"}, "log": {"type": "string"}},
        "Says it again once there is a file of that name; tells steps as progress, and its runs in a log",
    ),
    "large": ({"bytes": {"type": "integer"}}, "Says a text of so many bytes"),
    "nap": ({"ms": {"type": "integer"}}, "Says something after so many milliseconds"),
    "pid": ({}, "Tells the process"),
    "spawn": ({}, "Starts a process that lives on"),
    "ask": ({}, "Asks for a name"),
    "ask_too": ({}, "Asks for a name"),
}
METADATA = {
    "nap": {
        "version": "2.1.0",
        "author": "Ada",
        "category": "time",
        "tags": ["slow", "quiet"],
        "deprecates": ["sleep"],
        "custom": {"team": "night", "cost": 1.50},
    },
    "pid": {"category": "machine", "tags": ["quiet"]},
}
TOOLS.update({name: (TEXT, "Says it again") for name in sys.argv[3:]})
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUESTION = {"message": "Who?", "requestedSchema": SCHEMA}
speaking = threading.Lock()
asking = {}


def send(message):
    line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
    with speaking:
        sys.stdout.write(line)
        sys.stdout.flush()


def answer(request, result):
    send({"id": request["id"], "result": result if LEGACY else {"resultType": "complete", **result}})


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def introduction():
    me = {"name": NAME, "version": "1"}
    capabilities = {"tools": {}, "resources": {}, "prompts": {}}
    if LEGACY:
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": me}
    return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": me, "ttlMs": 60000, "cacheScope": "public"}


def listed(member, items):
    hints = {} if LEGACY else {"ttlMs": 60000, "cacheScope": "public"}
    return {member: items, **hints}


def tool(name):
    properties, about = TOOLS[name]
    listing = {"name": name, "description": about, "inputSchema": {"type": "object", "properties": properties}}
    if name in METADATA:
        listing["_meta"] = {"trunkline/metadata": METADATA[name]}
    return listing


def note(path, line):
    """One write, so that lines of several processes do not mix."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{line}\n".encode())
    os.close(log)


def tell_steps(params, arguments):
    token = params.get("_meta", {}).get("progressToken")
    for step in range(arguments.get("steps", 0) if token is not None else 0):
        told = {"progressToken": token, "progress": step + 1, "message": arguments["text"]}
        send({"method": "notifications/progress", "params": told})


def wait_at_gate(request, arguments):
    if "log" in arguments:
        note(arguments["log"], f"begin {arguments['text']}")
    tell_steps(request["params"], arguments)
    while not os.path.exists(arguments["path"]):
        time.sleep(PAUSE)
    if "log" in arguments:
        note(arguments["log"], f"end {arguments['text']}")
    answer(request, said(arguments["text"]))


def ask(request):
    params = request["params"]
    if not LEGACY:
        if params.get("requestState") == "asked":
            return answer(request, said(json.dumps(params["inputResponses"]["who"])))
        question = {"method": "elicitation/create", "params": {"mode": "form", **QUESTION}}
        asked = {"inputRequests": {"who": question}, "requestState": "asked"}
        return answer(request, {"resultType": "input_required", **asked})
    number = f"question-{request['id']}"
    asking[number] = request
    send({"id": number, "method": "elicitation/create", "params": QUESTION})


def call(request):
    params = request["params"]
    arguments = params.get("arguments", {})
    name = params["name"]
    if name == "fail":
        send({"id": request["id"], "error": {"code": -32603, "message": arguments["text"]}})
    elif name == "exit":
        os._exit(7)
    elif name == "echo" or name in sys.argv[3:]:
        tell_steps(params, arguments)
        answer(request, said(arguments["text"]))
    elif name == "gate":
        threading.Thread(target=wait_at_gate, args=(request, arguments), daemon=True).start()
    elif name == "large":
        answer(request, said("x" * arguments["bytes"]))
    elif name == "nap":
        threading.Timer(arguments["ms"] / 1000, answer, (request, said("rested"))).start()
    elif name == "pid":
        answer(request, said(str(os.getpid())))
    elif name == "spawn":
        child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        answer(request, said(str(child.pid)))
    elif name in ("ask", "ask_too"):
        ask(request)
    else:
        send({"id": request["id"], "error": {"code": -32602, "message": f"no tool {name}"}})


def hear(message):
    method = message.get("method")
    if method is None:
        request = asking.pop(message["id"], None)
        if request:
            answer(request, said(json.dumps(message.get("result", message.get("error")))))
    elif "id" not in message:
        return
    elif method == "tools/call":
        call(message)
    elif method == ("initialize" if LEGACY else "server/discover"):
        answer(message, introduction())
    elif method == "tools/list":
        answer(message, listed("tools", [tool(name) for name in TOOLS]))
    elif method == "resources/list":
        answer(message, listed("resources", [{"uri": f"echo://{NAME}/note", "name": "note"}]))
    elif method == "resources/templates/list":
        answer(message, listed("resourceTemplates", []))
    elif method == "prompts/list":
        answer(message, listed("prompts", [{"name": "greet"}]))
    elif method == "ping":
        answer(message, {})
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": f"no method {method}"}})


def main():
    rest = b""
    while chunk := os.read(0, CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        random.shuffle(lines)
        for line in filter(None, lines):
            hear(json.loads(line))


main()
