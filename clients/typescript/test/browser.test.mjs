// The client in a page of another origin, in a real browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { serve } from "./server.mjs";

const DIST = new URL("../dist/", import.meta.url);
let pages;
let server;
let browser;
let page;

before(async () => {
  pages = createServer((request, response) => {
    const script = /^\/dist\/(\w+\.js)$/.exec(request.url)?.[1];
    response.setHeader("Content-Type", script ? "text/javascript" : "text/html");
    response.end(script ? readFileSync(new URL(script, DIST)) : "<!doctype html><title>A page</title>");
  });
  await new Promise((done) => pages.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${pages.address().port}`;
  server = await serve({ auth: { origins: [origin] } });
  browser = await launch();
  page = await browser.newPage();
  await page.goto(origin);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  pages?.close();
});

/** Runs a function in the page with a client for the server. */
function inPage(work, more = {}) {
  const { url, key } = server;
  return page.evaluate(
    async ([text, options]) => {
      const library = await import("/dist/index.js");
      const client = new library.TrunklineClient(options);
      return new Function("client", "library", `return (${text})(client, library)`)(client, library);
    },
    [work.toString(), { url, key, ...more }],
  );
}

test("h9 tools are discovered and executed in a browser", async () => {
  const names = await inPage(async (client) => (await client.discoverTools({ server: "echo" })).map((tool) => tool.name));
  assert.ok(names.includes("echo_echo"));
  const text = await inPage(async (client) => (await client.executeTool("echo_echo", { text: "grüezi" })).text);
  assert.equal(text, "grüezi");
});

test("h4 progress arrives in a browser", async () => {
  const seen = await inPage(async (client) => {
    const all = [];
    await client.executeTool("echo_echo", { text: "hi", steps: 3 }, { onProgress: ({ progress }) => all.push(progress) });
    return all;
  });
  assert.deepEqual(seen, [1, 2, 3]);
});

test("h3 errors can be told apart in a browser", async () => {
  const told = await inPage(async (client, { ToolNotFoundError }) =>
    client.executeTool("nothing").catch((error) => [error instanceof ToolNotFoundError, error.code, error.status ?? null]),
  );
  assert.deepEqual(told.slice(0, 2), [true, "TOOL_NOT_FOUND"]);
  const refused = await inPage((client) => client.discoverTools().catch((error) => [error.name, error.status]), { key: "wrong" });
  assert.deepEqual(refused, ["PermissionError", 401]);
});

test("h9 a call is aborted in a browser", async () => {
  const reason = await inPage(async (client) => {
    const controller = new AbortController();
    const running = client.executeTool("echo_nap", { ms: 600000 }, { signal: controller.signal });
    while ((await client.listExecutions({ tool: "echo_nap", state: "running" })).length === 0);
    controller.abort(new Error("enough"));
    return running.catch((error) => error.message);
  });
  assert.equal(reason, "enough");
});
