// A server made with the TypeScript SDK 1.x, with one tool, `echo {text}`, to measure ours beside.
//
//     node echo_typescript.cjs FOLDER    FOLDER holds the node_modules with the SDK
//
// The first line on stdout is `listening on URL`.

"use strict";

const { randomUUID } = require("node:crypto");
const { createServer } = require("node:http");
const { createRequire } = require("node:module");
const { join } = require("node:path");

const installed = createRequire(join(process.argv[2], "package.json"));
const { McpServer } = installed("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = installed("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { z } = installed("zod");

const sessions = new Map();

async function open() {
  const server = new McpServer({ name: "bench-server", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Returns its text.", inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
    async ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await server.connect(transport);
  return transport;
}

async function handle(request, response) {
  const id = request.headers["mcp-session-id"];
  const transport = id === undefined ? await open() : sessions.get(id);
  if (transport === undefined) {
    response.writeHead(404).end();
    return;
  }
  await transport.handleRequest(request, response);
}

const listener = createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
listener.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${listener.address().port}/mcp`);
});
