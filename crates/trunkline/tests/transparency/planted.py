"""A server whose every answer holds members that no revision knows, and the request it answers, byte for byte.

    planted.py legacy|modern            on standard input and output
    planted.py legacy|modern --http     over Streamable HTTP; the port is printed first
    planted.py legacy|modern --whole    lists have one page
    planted.py legacy|modern --empty    it has nothing to list
"""
import http.server
import json
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
    '"completions":{},"logging":{},"experimental":{"vendor.example/x":{%s}},"extensions":{"vendor.example/thing":{%s}},"vendorCapability":{%s}}'
) % (ODD, ODD, ODD, ODD)
if EMPTY:
    CAPABILITIES = "{}"
IDENTITY = '{"name":"planted","version":"1.0","title":"Planted","icons":[{"src":"https://example.com/i.png","sizes":["48x48"]}],%s}' % ODD
HINTS = "" if LEGACY else '"resultType":"complete","ttlMs":0,"cacheScope":"private",'
TYPE = "" if LEGACY else '"resultType":"complete",'


def tool(name):
    execution = '"execution":{"taskSupport":"forbidden"},' if LEGACY else ""
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
    return '{"name":"%s","arguments":[{"name":"who","required":true,%s}],%s,%s}' % (name, ODD, META, ODD)


def listed(member, make, cursor):
    if WHOLE:
        names = ["first", "fails"] if member == "tools" else ["first", "second"]
        return page(member, [make(name) for name in names], None)
    if cursor == "":
        return page(member, [make("second")], None)
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


def interim(method, params):
    """What comes before the answer: progress with odd numbers, for whoever asked for it."""
    token = (params.get("_meta") or {}).get("progressToken")
    if method != "tools/call" or token is None:
        return []
    return [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":2.0e0,"message":"m",%s,%s}}'
        % (json.dumps(token), number, META, ODD)
        for number in ("1", "1.50")
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
    made = {
        "tools/list": lambda: listed("tools", tool, cursor),
        "prompts/list": lambda: listed("prompts", prompt, cursor),
        "resources/list": lambda: listed("resources", resource, cursor),
        "resources/templates/list": lambda: listed("resourceTemplates", template, cursor),
        "tools/call": lambda: called(params, frame),
        "resources/read": lambda: read(frame),
        "prompts/get": lambda: prompted(frame),
        "completion/complete": lambda: completed(frame),
        "vendor.example/thing": lambda: '{%s"frame":%s,%s}' % (TYPE, json.dumps(frame), ODD),
        "ping": lambda: "{}",
        "logging/setLevel": lambda: "{}",
    }.get(method)
    return result(made()) if made else error(-32601, "no such method")


def result(text):
    return '"result":' + text


def error(code, text):
    return '"error":{"code":%d,"message":"%s"}' % (code, text)


def messages(frame):
    message = json.loads(frame)
    if "id" not in message or "method" not in message:
        return []
    before = interim(message["method"], message.get("params") or {})
    return before + ['{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(message["id"]), answer(message, frame))]


class Http(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        frame = self.rfile.read(int(self.headers["content-length"])).decode()
        answers = messages(frame)
        if not answers:
            return self.reply(202, None, b"")
        if len(answers) == 1:
            return self.reply(200, "application/json", answers[0].encode())
        events = "".join("event: message\ndata: %s\n\n" % text for text in answers)
        self.reply(200, "text/event-stream", events.encode())

    def do_GET(self):
        self.reply(405, None, b"")

    do_DELETE = do_GET

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
