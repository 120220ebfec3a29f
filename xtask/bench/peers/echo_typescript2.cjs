// A server made with the TypeScript SDK 2.x, with one tool, `echo {text}`, to measure ours beside.
//
//     node echo_typescript2.cjs FOLDER    FOLDER holds the node_modules with the SDK
//
// The first line on stdout is `listening on URL`.

"use strict";

const { createServer } = require("node:http");
const { createRequire } = require("node:module");
const { join } = require("node:path");

const installed = createRequire(join(process.argv[2], "package.json"));
const { McpServer, createMcpHandler } = installed("@modelcontextprotocol/server");
const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = installed("@modelcontextprotocol/node");
const { z } = installed("zod");

// As the SDK has it: a server for each request, of either era, behind its guards for a local one.
const handler = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: "bench-server", version: "1.0.0" });
    server.registerTool(
      "echo",
      {
        description: "Returns its text.",
        inputSchema: z.object({ text: z.string() }),
        annotations: { readOnlyHint: true },
      },
      async ({ text }) => ({ content: [{ type: "text", text }] }),
    );
    return server;
  }),
);
const isOurHost = localhostHostValidation();
const isOurOrigin = localhostOriginValidation();

const listener = createServer((request, response) => {
  if (isOurHost(request, response) && isOurOrigin(request, response)) {
    Promise.resolve(handler(request, response)).catch((error) => {
      console.error(error);
      response.destroy();
    });
  }
});
listener.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${listener.address().port}/mcp`);
});
