"""A server whose every answer holds members that no revision knows, and the request it answers, byte for byte.

    planted.py legacy|modern            on standard input and output
    planted.py legacy|modern --http     over Streamable HTTP; the port is printed first
    planted.py legacy|modern --whole    lists have one page
    planted.py legacy|modern --empty    it has nothing to list
    planted.py … --shared=FILE          processes with the same file have the same prompts
"""
import collections
import http.server
import json
import os
import queue
import select
import socket
import sys

ERA = sys.argv[1]
LEGACY = ERA == "legacy"
WHOLE = "--whole" in sys.argv
EMPTY = "--empty" in sys.argv

# Spellings and orders that a parse and a rewrite would lose.
ODD = '"zeta":{"n":1.0e2,"big":123456789012345678901234567890,"a":[],"\\u00e9":"\\/"},"alpha":null'
META = '"_meta":{"vendor.example/z":{%s},"vendor.example/a":0.10}' % ODD
CAPABILITIES = (
    '{"tools":{"listChanged":true,%s},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},'
    '"completions":{},"logging":{},%s"experimental":{"vendor.example/x":{%s}},"extensions":{%s"vendor.example/thing":{%s}},"vendorCapability":{%s}}'
) % (
    ODD,
    '"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},' if LEGACY else "",
    ODD,
    "" if LEGACY else '"io.modelcontextprotocol/tasks":{},',
    ODD,
    ODD,
)
if EMPTY:
    CAPABILITIES = "{}"
IDENTITY = '{"name":"planted","version":"1.0","title":"Planted","icons":[{"src":"https://example.com/i.png","sizes":["48x48"]}],%s}' % ODD
HINTS = "" if LEGACY else '"resultType":"complete","ttlMs":0,"cacheScope":"private",'
TYPE = "" if LEGACY else '"resultType":"complete",'

TOOLS = ["first", "fails", "touch", "change", "waits", "slow", "finish", "seen", "logs", "asks"]
SEEN = {}  # the last frame of each method
STREAMS = collections.defaultdict(queue.Queue)  # what waits for a stream of HTTP, by its request
SUBSCRIBED = set()
LISTENERS = {}  # the filter of each `subscriptions/listen`, by its id
WAITING = set()  # the ids of calls that end only when they are cancelled or have their answers
ASKED = {}  # the call and the remaining kinds of each open question, by its id
TASKS = []
CHANGES = next((word.partition("=")[2] for word in sys.argv if word.startswith("--shared=")), "")
changes_here = 0


def tool(name):
    support = "optional" if name == "slow" else "forbidden"
    execution = '"execution":{"taskSupport":"%s"},' % support if LEGACY else ""
    return (
        '{"name":"%s","title":"T","description":"d","icons":[{"src":"https://example.com/t.png",%s}],'
        '"inputSchema":{"type":"object","properties":{"b":{"type":"string","x-odd":1.50},"a":{}},%s},'
        '"outputSchema":{"type":"object",%s},"annotations":{"readOnlyHint":true,"vendorHint":[1.0]},%s%s,%s}'
    ) % (name, ODD, ODD, ODD, execution, META, ODD)


def page(member, items, cursor):
    following = ',"nextCursor":"%s"' % cursor if cursor else ""
    return '{%s"%s":[%s]%s,%s,%s}' % (HINTS, member, ",".join(items), following, META, ODD)


def resource(name):
    return '{"uri":"planted://%s","name":"%s","size":1.0e1,"annotations":{"priority":0.30,"x":1},%s,%s}' % (name, name, META, ODD)


def template(name):
    return '{"uriTemplate":"planted://%s/{id}","name":"%s",%s,%s}' % (name, name, META, ODD)


def prompt(name):
    return '{"name":"%s","description":"%d changes","arguments":[{"name":"who","required":true,%s}],%s,%s}' % (
        name, changes(), ODD, META, ODD)


def listed(member, make, cursor):
    if WHOLE:
        names = TOOLS if member == "tools" else ["first", "second"]
        return page(member, [make(name) for name in names], None)
    if cursor == "":
        more = TOOLS[1:] if member == "tools" else []
        return page(member, [make(name) for name in ["second"] + more], None)
    return page(member, [make("first")], "")


def called(params, frame):
    blocks = [
        '{"type":"text","text":"t","annotations":{"audience":["user"],"x":1.0},%s,%s}' % (META, ODD),
        '{"type":"resource_link","uri":"planted://first","name":"first",%s}' % ODD,
        '{"type":"resource","resource":{"uri":"planted://other","text":"r",%s,%s}}' % (META, ODD),
        '{"type":"vendor_block",%s}' % ODD,
    ]
    return '{%s"content":[%s],"structuredContent":{"frame":%s,%s},"isError":false,%s,%s}' % (
        TYPE, ",".join(blocks), json.dumps(frame), ODD, META, ODD)


def read(frame):
    contents = '{"uri":"planted://first","mimeType":"text/plain","text":%s,%s,%s}' % (json.dumps(frame), META, ODD)
    return '{%s"contents":[%s],%s,%s}' % (HINTS, contents, META, ODD)


def prompted(frame):
    message = '{"role":"user","content":{"type":"text","text":%s,%s},%s}' % (json.dumps(frame), ODD, ODD)
    return '{%s"description":"d","messages":[%s],%s,%s}' % (TYPE, message, META, ODD)


def completed(frame):
    return '{%s"completion":{"values":[%s],"total":1.0,"hasMore":false,%s},%s,%s}' % (TYPE, json.dumps(frame), ODD, META, ODD)


def introduced(params):
    if LEGACY:
        return '{"protocolVersion":"%s","capabilities":%s,"serverInfo":%s,"instructions":"be kind",%s,%s}' % (
            params.get("protocolVersion"), CAPABILITIES, IDENTITY, META, ODD)
    return '{%s"supportedVersions":["2026-07-28"],"capabilities":%s,"instructions":"be kind","_meta":{"io.modelcontextprotocol/serverInfo":%s,"vendor.example/a":0.10},%s}' % (
        HINTS, CAPABILITIES, IDENTITY, ODD)


def acknowledged(frame):
    """The answer to a request that needs none but says that it was understood."""
    return '{%s"frame":%s,%s,%s}' % (TYPE, json.dumps(frame), META, ODD)


def tell(method, members, wanted=lambda wish: True):
    """Sends a notification outside of any call: to the session, or to each listener that asked for it."""
    if LEGACY:
        put("session", '{"jsonrpc":"2.0","method":"%s","params":{%s,%s,%s}}' % (method, members, META, ODD))
    for key, wish in list(LISTENERS.items()):
        if wanted(wish):
            meta = '"_meta":{"io.modelcontextprotocol/subscriptionId":%s,"vendor.example/z":{%s}}' % (key, ODD)
            put(key, '{"jsonrpc":"2.0","method":"%s","params":{%s,%s,%s}}' % (method, members, meta, ODD))


def put(stream, text):
    if "--http" in sys.argv:
        STREAMS[stream].put(text)
    else:
        print(text, flush=True)


def touched():
    if "planted://first" in SUBSCRIBED or LISTENERS:
        tell("notifications/resources/updated", '"uri":"planted://first","title":"T"',
             lambda wish: "planted://first" in wish.get("resourceSubscriptions", []))


def changes():
    """How often the prompts have changed."""
    return os.path.getsize(CHANGES) if CHANGES and os.path.exists(CHANGES) else changes_here


def changed():
    global changes_here
    changes_here += 1
    if CHANGES:
        with open(CHANGES, "a") as file:
            file.write("x")
    tell("notifications/prompts/list_changed", '"vendor":1.0', lambda wish: wish.get("promptsListChanged"))


def listening(message):
    key, wish = json.dumps(message["id"]), message["params"]["notifications"]
    LISTENERS[key] = wish
    meta = '"_meta":{"io.modelcontextprotocol/subscriptionId":%s,"vendor.example/z":{%s}}' % (key, ODD)
    return '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s,%s,%s}}' % (
        json.dumps(wish), meta, ODD)


def state(task):
    """The members of a task, in the form of this era."""
    ttl, poll = ("ttl", "pollInterval") if LEGACY else ("ttlMs", "pollIntervalMs")
    outcome = '"result":%s,' % task["result"] if not LEGACY and task["status"] == "completed" else ""
    return '"taskId":"%s","status":"%s","statusMessage":"m","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00.50Z","%s":6.0e4,"%s":50.0,%s%s' % (
        task["id"], task["status"], ttl, poll, outcome, ODD)


def started(params, frame):
    task = {"id": "planted-%d" % len(TASKS), "status": "working"}
    task["result"] = called(params, frame)
    TASKS.append(task)
    if LEGACY:
        return '{"task":{%s},%s,%s}' % (state(task), META, ODD)
    return '{"resultType":"task",%s,%s}' % (state(task), META)


def finished():
    if not TASKS:
        return
    task = TASKS[-1]
    task["status"] = "completed"
    method = "notifications/tasks/status" if LEGACY else "notifications/tasks"
    tell(method, state(task).removesuffix("," + ODD), lambda wish: task["id"] in wish.get("taskIds", []))


def about_task(method, params, frame):
    task = next((task for task in TASKS if task["id"] == params.get("taskId")), None)
    if task is None:
        return error(-32602, "no such task")
    if method == "tasks/get":
        return result('{%s%s,"frame":%s,%s}' % (TYPE, state(task), json.dumps(frame), META))
    if method == "tasks/result":
        related = '"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"%s"},' % task["id"]
        return result(related.join(task["result"].rsplit('"_meta":{', 1)))
    if method == "tasks/cancel":
        task["status"] = "cancelled"
        if LEGACY:
            return result('{%s,"frame":%s,%s}' % (state(task), json.dumps(frame), META))
    return result(acknowledged(frame))


def seen(params):
    frame = SEEN.pop((params.get("arguments") or {}).get("method"), None)
    return '{%s"content":[],"structuredContent":{"frame":%s}}' % (TYPE, json.dumps(frame))


QUESTIONS = {
    "sampling": ("sampling/createMessage", '"messages":[{"role":"user","content":{"type":"text","text":"s",%s},%s}],'
                 '"temperature":0.50,"maxTokens":100,"includeContext":"none"' % (ODD, ODD)),
    "form": ("elicitation/create", '"mode":"form","message":"m \\u00e9","requestedSchema":{"type":"object",'
             '"properties":{"n":{"type":"number","minimum":0.0,%s}},"required":["n"]}' % ODD),
    "url": ("elicitation/create", '%s"mode":"url","message":"m","url":"https://example.com/a?b=%%20c"'
            % ('"elicitationId":"visit-1",' if LEGACY else "")),
    "roots": ("roots/list", '"vendor":1.0'),
}


def question(kind):
    """The method and parameters of a question, as members of an object."""
    method, params = QUESTIONS[kind]
    return '"method":"%s","params":{%s,%s,%s}' % (method, params, META, ODD)


def asking(message, frame):
    """Asks one question after the other: by requests of our own, or in 2026-07-28 by results that want a retry."""
    params = message["params"]
    kinds = params["arguments"]["kinds"]
    if LEGACY:
        WAITING.add(json.dumps(message["id"]))
        return [ask({"id": message["id"], "params": params, "frame": frame, "answers": []}, kinds)]
    done = int(params.get("requestState", "0/").partition("/")[0])
    if done == len(kinds):
        return [response(message["id"], answered(params, frame, [raw(frame, '"inputResponses":')]))]
    return [response(message["id"], '{"resultType":"input_required","inputRequests":{"q":{%s}},"requestState":"%d\\/\\u00e9",%s,%s}' % (
        question(kinds[done]), done + 1, META, ODD))]


def ask(call, kinds):
    key = "question-%d" % len(call["answers"])
    ASKED[key] = (call, kinds)
    return '{"jsonrpc":"2.0","id":"%s",%s}' % (key, question(kinds[0]))


def replied(message, frame):
    """Takes the answer to a question: the next question follows, or the end of the call."""
    call, kinds = ASKED.pop(message["id"])
    call["answers"].append(frame)
    key = json.dumps(call["id"])
    if kinds[0] == "url":
        put(key, '{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"visit-1",%s,%s}}' % (META, ODD))
    if kinds[1:]:
        return put(key, ask(call, kinds[1:]))
    put(key, response(call["id"], answered(call["params"], call["frame"], call["answers"])))
    ended(key)


def answered(params, frame, answers):
    """The result of a call that asked: what it was answered stands in it as text."""
    members = ",".join('"answer%d":%s' % (number, json.dumps(text)) for number, text in enumerate(answers))
    return called(params, frame).replace('"structuredContent":{', '"structuredContent":{%s,' % members, 1)


def raw(frame, member):
    """The value of a member as it is spelt."""
    start = frame.index(member) + len(member)
    return '{"jsonrpc":"2.0","answers":%s}' % frame[start:json.JSONDecoder().raw_decode(frame, start)[1]]


def response(key, text):
    return '{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(key), result(text))


def logged(params):
    """Two messages of a log; 2026-07-28 wants them only in a call that says so."""
    if not LEGACY and "io.modelcontextprotocol/logLevel" not in params.get("_meta", {}):
        return []
    return [
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","logger":"l","data":{"n":1.0,%s},%s,%s}}'
        % (level, ODD, META, ODD)
        for level in ("warning", "error")
    ]


def interim(method, params):
    """What comes before the answer: progress with odd numbers, for whoever asked for it, and a log."""
    if method == "tools/call" and params.get("name") == "logs":
        return logged(params)
    token = (params.get("_meta") or {}).get("progressToken")
    if method != "tools/call" or token is None:
        return []
    return [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":2.0e0,"message":"m",%s,%s}}'
        % (json.dumps(token), number, META, ODD)
        for number in (("1",) if params.get("name") == "waits" else ("1", "1.50"))
    ]


def answer(message, frame):
    method, params = message["method"], message.get("params") or {}
    cursor = params.get("cursor")
    if method in ("initialize", "server/discover"):
        if (method == "initialize") != LEGACY:
            return error(-32601, "no such method")
        return result(introduced(params))
    if method == "tools/call" and params.get("name") == "fails":
        return '"error":{"code":-31999,"message":"it f\\u0061iled","data":{"frame":%s,%s},%s}' % (json.dumps(frame), ODD, ODD)
    if method.startswith("tasks/") and method != "tasks/list":
        return about_task(method, params, frame)
    made = {
        "tools/list": lambda: listed("tools", tool, cursor),
        "prompts/list": lambda: listed("prompts", prompt, cursor),
        "resources/list": lambda: listed("resources", resource, cursor),
        "resources/templates/list": lambda: listed("resourceTemplates", template, cursor),
        "tools/call": lambda: tool_result(params, frame),
        "resources/read": lambda: read(frame),
        "prompts/get": lambda: prompted(frame),
        "completion/complete": lambda: completed(frame),
        "vendor.example/thing": lambda: '{%s"frame":%s,%s}' % (TYPE, json.dumps(frame), ODD),
        "resources/subscribe": lambda: acknowledged(frame),
        "resources/unsubscribe": lambda: acknowledged(frame),
        "tasks/list": lambda: '{"tasks":[%s],%s,%s}' % (",".join("{%s}" % state(task) for task in TASKS), META, ODD),
        "ping": lambda: "{}",
        "logging/setLevel": lambda: acknowledged(frame),
    }.get(method)
    return result(made()) if made else error(-32601, "no such method")


def tool_result(params, frame):
    name = params.get("name")
    if name == "seen":
        return seen(params)
    if name == "slow" and ("task" in params or not LEGACY):
        return started(params, frame)
    effect = {"touch": touched, "change": changed, "finish": finished}.get(name)
    if effect:
        effect()
    return called(params, frame)


def result(text):
    return '"result":' + text


def error(code, text):
    return '"error":{"code":%d,"message":"%s"}' % (code, text)


def messages(frame):
    """All that answers a frame; nothing for a notification, and no response for what has to be cancelled."""
    message = json.loads(frame)
    method, params = message.get("method"), message.get("params") or {}
    SEEN[method] = frame
    if method == "notifications/cancelled":
        ended(json.dumps(params["requestId"]))
    if method is None and message.get("id") in ASKED:
        replied(message, frame)
    if "id" not in message or method is None:
        return []
    if method == "resources/subscribe":
        SUBSCRIBED.add(params["uri"])
    if method == "subscriptions/listen" and not LEGACY:
        return [listening(message)]
    before = interim(method, params)
    if params.get("name") == "waits":
        WAITING.add(json.dumps(message["id"]))
        return before
    if params.get("name") == "asks":
        return asking(message, frame)
    return before + ['{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(message["id"]), answer(message, frame))]


def ended(key):
    WAITING.discard(key)
    LISTENERS.pop(key, None)


class Http(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        frame = self.rfile.read(int(self.headers["content-length"])).decode()
        answers = messages(frame)
        key = json.dumps(json.loads(frame).get("id"))
        if key in WAITING or key in LISTENERS:
            return self.stream(key, answers)
        if not answers:
            return self.reply(202, None, b"")
        if len(answers) == 1:
            return self.reply(200, "application/json", answers[0].encode())
        events = "".join("event: message\ndata: %s\n\n" % text for text in answers)
        self.reply(200, "text/event-stream", events.encode())

    def do_GET(self):
        if LEGACY:
            self.stream("session", [])
        else:
            self.reply(405, None, b"")

    def do_DELETE(self):
        self.reply(405, None, b"")

    def stream(self, key, events):
        """Sends events until the request is cancelled or the client closes the stream."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for text in events:
            STREAMS[key].put(text)
        while True:
            if select.select([self.connection], [], [], 0)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                if not LEGACY:
                    SEEN["notifications/cancelled"] = "the client closed the stream"
                return ended(key)
            try:
                text = STREAMS[key].get(timeout=0.02)
            except queue.Empty:
                if key == "session" or key in WAITING or key in LISTENERS:
                    continue
                return
            try:
                self.wfile.write(("event: message\ndata: %s\n\n" % text).encode())
                self.wfile.flush()
            except OSError:
                return ended(key)

    def reply(self, status, kind, body):
        self.send_response(status)
        if kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if "--http" in sys.argv:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Http)
    print(server.server_address[1], flush=True)
    server.serve_forever()
for line in sys.stdin:
    for text in messages(line.rstrip("\n")):
        print(text, flush=True)
