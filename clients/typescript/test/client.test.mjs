// The client against the real binary.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ConnectionError,
  ExecutionError,
  PermissionError,
  RateLimitError,
  TimeoutError,
  ToolNotFoundError,
  TrunklineClient,
  ValidationError,
} from "../dist/index.js";
import { serve } from "./server.mjs";

let server;
let client;

before(async () => {
  server = await serve();
  client = new TrunklineClient(server);
});
after(() => server.stop());

test("h9 tools are discovered, filtered and described", async () => {
  const tools = await client.discoverTools();
  assert.ok(tools.some((tool) => tool.name === "echo_nap" && tool.server === "echo"));
  const found = await client.discoverTools({ q: "so many milliseconds", server: "echo" });
  assert.deepEqual(found.map((tool) => tool.name), ["echo_nap"]);
  assert.deepEqual(await client.discoverTools({ tags: ["none"] }), []);
  const tool = await client.getTool("echo_nap");
  assert.deepEqual(tool.inputSchema.properties, { ms: { type: "integer" } });
});

test("h9 a tool is executed", async () => {
  const result = await client.executeTool("echo_echo", { text: "grüezi 😀" }, { priority: "high", userId: "u" });
  assert.equal(result.text, "grüezi 😀");
  assert.deepEqual(result.content, [{ type: "text", text: "grüezi 😀" }]);
  assert.ok(result.executionId && result.duration >= 0 && result.timestamp.endsWith("Z"));
});

test("h9 a call without a key works alike", async () => {
  const result = await client.executeTool("echo_echo", { text: "plain" }, { idempotencyKey: false });
  assert.equal(result.text, "plain");
});

test("h4 progress arrives in a callback", async () => {
  const seen = [];
  const onProgress = (progress) => seen.push(progress);
  const result = await client.executeTool("echo_echo", { text: "hi", steps: 3 }, { onProgress });
  assert.equal(result.text, "hi");
  assert.deepEqual(seen, [1, 2, 3].map((progress) => ({ progress, message: "hi" })));
});

test("h4 events are an async iterator, and leaving it cancels the tool", async () => {
  const types = [];
  for await (const event of client.streamTool("echo_echo", { text: "hi", steps: 2 })) types.push(event.type);
  assert.deepEqual(types.filter((type) => type !== "state"), ["progress", "progress", "result"]);
  const gate = { text: "x", path: join(server.folder, "never") };
  const options = { idempotencyKey: false, signal: AbortSignal.timeout(500) };
  await assert.rejects(async () => {
    for await (const event of client.streamTool("echo_gate", gate, options)) assert.notEqual(event.type, "result");
  });
});

test("h4 a waiting tool ends when its gate opens", async () => {
  const path = join(server.folder, "gate");
  const waiting = client.executeTool("echo_gate", { text: "through", path });
  writeFileSync(path, "");
  assert.equal((await waiting).text, "through");
});

test("h3 errors have their class, code and details", async () => {
  await assert.rejects(client.executeTool("nothing"), (error) => {
    assert.ok(error instanceof ToolNotFoundError);
    assert.equal(error.code, "TOOL_NOT_FOUND");
    return true;
  });
  await assert.rejects(client.getTool("nothing"), ToolNotFoundError);
  await assert.rejects(client.executeTool("echo_echo", {}, { priority: "urgent" }), (error) => {
    assert.ok(error instanceof ValidationError);
    assert.deepEqual([error.status, error.retryable], [400, false]);
    assert.equal(error.details.field, "context.priority");
    assert.equal(error.details.provided, "urgent");
    return true;
  });
  await assert.rejects(client.executeTool("echo_nap", { ms: 60_000 }, { timeout: 50 }), (error) => {
    assert.ok(error instanceof TimeoutError && error.executionId);
    return true;
  });
  const once = new TrunklineClient({ ...server, retries: 0 });
  await assert.rejects(once.executeTool("echo_fail", { text: "broken" }), ExecutionError);
});

test("h5 credentials are asked for", async () => {
  const nobody = new TrunklineClient({ url: server.url });
  await assert.rejects(nobody.discoverTools(), (error) => {
    assert.ok(error instanceof PermissionError);
    assert.equal(error.status, 401);
    return true;
  });
  const late = new TrunklineClient({ url: server.url, key: async () => server.key });
  assert.ok((await late.discoverTools()).length > 0);
});

test("h9 a signal aborts with its own reason", async () => {
  const reason = new Error("no longer wanted");
  const controller = new AbortController();
  const running = client.executeTool("echo_nap", { ms: 600_000 }, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(running, (error) => error === reason);
  const gone = AbortSignal.abort(reason);
  await assert.rejects(client.discoverTools({ signal: gone }), (error) => error === reason);
});

test("h6 an own time limit ends the wait", async () => {
  const hasty = new TrunklineClient({ ...server, timeout: 200, retries: 0 });
  await assert.rejects(hasty.executeTool("echo_nap", { ms: 60_000 }), TimeoutError);
});

test("h9 a server that does not exist is a connection error", async () => {
  const lost = new TrunklineClient({ url: "http://127.0.0.1:9", retries: 1 });
  await assert.rejects(lost.discoverTools(), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.match(error.message, /GET \/tools/);
    return true;
  });
});

test("h1 views and single servers have their own tools", async () => {
  const one = new TrunklineClient({ ...server, view: "server/echo" });
  assert.equal((await one.executeTool("echo", { text: "inner" })).text, "inner");
});

test("h3 a used up quota is told, and is waited for if that is short", async () => {
  const limited = await serve({ limits: { perCaller: { calls: 2, per: "2s" } } });
  try {
    const patient = new TrunklineClient(limited);
    const texts = ["1", "2", "3"].map((text) => patient.executeTool("echo_echo", { text }));
    assert.deepEqual((await Promise.all(texts)).map((result) => result.text), ["1", "2", "3"]);
    const hasty = new TrunklineClient({ ...limited, retries: 0 });
    await assert.rejects(
      (async () => {
        for (;;) await hasty.executeTool("echo_echo", { text: "x" });
      })(),
      (error) => {
        assert.ok(error instanceof RateLimitError);
        assert.ok(error.retryable && error.retryAfter >= 1 && error.status === 429);
        return true;
      },
    );
  } finally {
    await limited.stop();
  }
});
