// Faults that no healthy server shows, from a scripted one.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { ConnectionError, ExecutionError, RateLimitError, TrunklineClient } from "../dist/index.js";

const RESULT = {
  success: true,
  result: { content: [{ type: "text", text: "ok" }] },
  metadata: { executionId: "e-1", duration: 1, timestamp: "2026-01-01T00:00:00Z" },
};

/** Runs `use` with a server that answers with these functions in turn, and returns its requests. */
async function scripted(answers, use) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
    const answer = answers[requests.length - 1];
    if (answer) answer(response);
    else response.writeHead(500).end("{}");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await use(new TrunklineClient({ url: `http://127.0.0.1:${server.address().port}` }));
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  return requests;
}

const json = (status, body, headers = {}) => (response) =>
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
const drop = (response) => response.destroy();
const failure = (code, details) => ({ success: false, error: { code, message: "no", details } });
const events = (text, end, headers = {}) => (response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream", ...headers });
  response.write(text);
  if (end === "drop") setImmediate(() => response.destroy());
  else response.end();
};
const event = (id, name, data) => `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const result = (id) => event(id, "result", RESULT);

test("a lost call is repeated with the same key", async () => {
  const requests = await scripted([drop, events(result(1))], async (client) => {
    assert.equal((await client.executeTool("t")).text, "ok");
  });
  const keys = requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(requests.length, 2);
  assert.ok(keys[0].length >= 32);
  assert.equal(keys[0], keys[1]);
});

test("U11: a redirect gets neither headers nor arguments", async () => {
  let reached = 0;
  const elsewhere = createServer((request, response) => {
    reached += 1;
    json(200, RESULT)(response);
  });
  await new Promise((done) => elsewhere.listen(0, "127.0.0.1", done));
  const location = `http://127.0.0.1:${elsewhere.address().port}/mcp/tools/t/execute`;
  const away = (response) => response.writeHead(307, { Location: location }).end();
  try {
    await scripted([away, away, away], async (client) => {
      await assert.rejects(client.executeTool("t", { secret: 1 }, { idempotencyKey: false }), ConnectionError);
    });
  } finally {
    elsewhere.closeAllConnections();
    await new Promise((done) => elsewhere.close(done));
  }
  assert.equal(reached, 0);
});

test("a lost call without a key is not repeated", async () => {
  const requests = await scripted([drop, json(200, RESULT)], async (client) => {
    await assert.rejects(client.executeTool("t", {}, { idempotencyKey: false }), ConnectionError);
  });
  assert.equal(requests.length, 1);
  assert.equal(requests[0].headers["idempotency-key"], undefined);
});

test("a failure that allows it is repeated as a new call", async () => {
  const busy = failure("EXECUTION_ERROR", { retryable: true });
  const requests = await scripted([json(503, busy), events(result(1))], async (client) => {
    assert.equal((await client.executeTool("t")).text, "ok");
  });
  const keys = requests.map((request) => request.headers["idempotency-key"]);
  assert.notEqual(keys[0], keys[1]);
});

test("a failure that does not allow it is thrown at once", async () => {
  const broken = failure("EXECUTION_ERROR", { retryable: false });
  const requests = await scripted([json(502, broken)], async (client) => {
    await assert.rejects(client.executeTool("t"), ExecutionError);
  });
  assert.equal(requests.length, 1);
});

test("Retry-After is respected, and one beyond a minute is left to the caller", async () => {
  const began = Date.now();
  const full = failure("RATE_LIMIT_ERROR", { retryable: true });
  await scripted([json(429, full, { "Retry-After": "1" }), json(200, { tools: [] })], async (client) => {
    assert.deepEqual(await client.discoverTools(), []);
  });
  assert.ok(Date.now() - began >= 1000);
  const requests = await scripted([json(429, full, { "Retry-After": "3600" })], async (client) => {
    await assert.rejects(client.discoverTools(), (error) => error instanceof RateLimitError && error.retryAfter === 3600);
  });
  assert.equal(requests.length, 1);
});

test("a broken stream is resumed where it broke", async () => {
  const at = { Location: "/mcp/executions/e-1" };
  const first = event(1, "progress", { progress: 1 }) + event(2, "progress", { progress: 2 });
  const second = event(3, "progress", { progress: 3 }) + result(4);
  const seen = [];
  const requests = await scripted([events(first, "drop", at), events(second)], async (client) => {
    await client.executeTool("t", {}, { onProgress: ({ progress }) => seen.push(progress) });
  });
  assert.deepEqual(seen, [1, 2, 3]);
  assert.deepEqual([requests[1].method, requests[1].url], ["GET", "/mcp/executions/e-1/events"]);
  assert.equal(requests[1].headers["last-event-id"], "2");
});

test("an abandoned execution is cancelled", async () => {
  const at = { Location: "/mcp/executions/e-1" };
  const open = (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream", ...at });
    response.write(event(1, "progress", { progress: 1 }));
  };
  const requests = await scripted([open, json(200, { executionId: "e-1", state: "cancelled" })], async (client) => {
    for await (const one of client.streamTool("t")) {
      assert.equal(one.type, "progress");
      break;
    }
  });
  assert.deepEqual([requests[1].method, requests[1].url], ["DELETE", "/mcp/executions/e-1"]);
});

test("events are read however they are cut and ended", async () => {
  const text = `: hello\r\n\r\n${event(1, "progress", { progress: 1, message: "ü" })}${result(2)}`.replaceAll(/\r?\n/g, "\r\n");
  const cut = (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const bytes = Buffer.from(text);
    const next = (place) => {
      if (place < bytes.length) response.write(bytes.subarray(place, place + 1), () => next(place + 1));
      else response.end();
    };
    next(0);
  };
  await scripted([cut], async (client) => {
    const all = [];
    for await (const one of client.streamTool("t")) all.push(one.type === "progress" ? one.progress.message : one.type);
    assert.deepEqual(all, ["ü", "result"]);
  });
});

test("an answer of something else is told apart", async () => {
  await scripted([(response) => response.end("<html>")], async (client) => {
    await assert.rejects(client.getTool("t"), /no JSON; is this a Trunkline server/);
  });
});
