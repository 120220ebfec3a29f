// Executions that outlive their request, against the real binary.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ExecutionError, ExecutionNotFoundError, TimeoutError, TrunklineClient, ValidationError } from "../dist/index.js";
import { serve } from "./server.mjs";

let server;
let client;
const gate = (name) => ({ text: "through", path: join(server.folder, name) });
const open = (name) => writeFileSync(join(server.folder, name), "");

before(async () => {
  server = await serve();
  client = new TrunklineClient(server);
});
after(() => server.stop());

test("an execution is started, listed, waited for and kept", async () => {
  const execution = await client.startTool("echo_gate", gate("one"));
  assert.ok(["queued", "running"].includes((await execution.get()).state));
  const listed = await client.listExecutions({ tool: "echo_gate", state: ["queued", "running"] });
  assert.ok(listed.some((one) => one.executionId === execution.id));
  await assert.rejects(execution.wait({ timeout: 10 }), TimeoutError);
  open("one");
  assert.equal((await execution.wait()).text, "through");
  const later = new TrunklineClient(server).execution(execution.id);
  assert.equal((await later.wait()).executionId, execution.id);
  assert.equal((await later.get()).state, "done");
});

test("events are followed and resumed without a gap or a repeat", async () => {
  const execution = await client.startTool("echo_echo", { text: "hi", steps: 4 });
  const all = [];
  for await (const event of execution.events()) all.push(event);
  const steps = all.filter((event) => event.type === "progress").map((event) => event.progress.progress);
  assert.deepEqual(steps, [1, 2, 3, 4]);
  assert.equal(all.at(-1).result.text, "hi");
  for (const [place, { id }] of all.slice(0, -1).entries()) {
    const rest = [];
    for await (const event of execution.events({ after: id })) rest.push(event.id);
    assert.deepEqual(rest, all.slice(place + 1).map((event) => event.id));
  }
});

test("an execution is cancelled", async () => {
  const execution = await client.startTool("echo_gate", gate("never"));
  assert.equal((await execution.cancel()).state, "cancelled");
  await assert.rejects(execution.wait(), (error) => {
    assert.ok(error instanceof ExecutionError && !error.retryable);
    assert.match(error.message, /was cancelled/);
    return true;
  });
});

test("a question is answered, or declined without a handler", async () => {
  const asked = [];
  const onQuestion = (question) => {
    asked.push(question.message);
    return { content: { name: "Ada" } };
  };
  const waited = await (await client.startTool("echo_ask")).wait({ onQuestion });
  assert.deepEqual(JSON.parse(waited.text), { action: "accept", content: { name: "Ada" } });
  const executed = await client.executeTool("echo_ask", {}, { onQuestion });
  assert.deepEqual(JSON.parse(executed.text), { action: "accept", content: { name: "Ada" } });
  assert.deepEqual(asked, ["Who?", "Who?"]);
  const declined = await (await client.startTool("echo_ask")).wait();
  assert.equal(JSON.parse(declined.text).action, "decline");
});

test("a call with the same key runs once", async () => {
  const options = { idempotencyKey: "the same" };
  const [one, other] = await Promise.all([1, 2].map(() => client.executeTool("echo_pid", {}, options)));
  assert.equal(one.executionId, other.executionId);
  const again = await client.executeTool("echo_pid", {}, options);
  assert.equal(again.executionId, one.executionId);
  await assert.rejects(client.executeTool("echo_echo", { text: "x" }, options), ValidationError);
});

test("an aborted call is cancelled at the server", async () => {
  const controller = new AbortController();
  const events = client.streamTool("echo_gate", gate("aborted"), { signal: controller.signal });
  await events.next();
  controller.abort();
  await assert.rejects(async () => {
    for await (const event of events) assert.notEqual(event.type, "result");
  });
  const states = (await client.listExecutions({ tool: "echo_gate" })).map((one) => one.state);
  assert.ok(!states.includes("running") && !states.includes("queued"), states.join());
  assert.ok(!existsSync(join(server.folder, "aborted")));
});

test("an unknown execution is told apart", async () => {
  await assert.rejects(client.execution("nothing").get(), ExecutionNotFoundError);
});
