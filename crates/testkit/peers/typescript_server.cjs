// A server made with the TypeScript SDK 2.x as its guide shows it, for tests of the linter.
//
//     node typescript_server.cjs FOLDER              speaks over stdin and stdout; FOLDER holds the node_modules with the SDK
//     node typescript_server.cjs FOLDER --http PORT  Streamable HTTP on 127.0.0.1, path /mcp
'use strict';

const { createServer } = require('node:http');
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [folder, , port] = process.argv.slice(2);
const installed = createRequire(join(folder, 'package.json'));
const { McpServer, ResourceTemplate, createMcpHandler } = installed('@modelcontextprotocol/server');
const { serveStdio } = installed('@modelcontextprotocol/server/stdio');
const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = installed('@modelcontextprotocol/node');
const { z } = installed('zod');

// One factory for both eras and both transports, as the SDK wants it.
function makeServer() {
  const server = new McpServer(
    { name: 'typescript-peer', version: '1.0.0' },
    { instructions: 'A server for tests: it adds numbers and keeps one note.' },
  );
  server.registerTool(
    'add',
    {
      title: 'Add',
      description: 'Adds two numbers and answers with their sum.',
      inputSchema: z.object({ a: z.number().describe('The first number'), b: z.number().describe('The second number') }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }], structuredContent: { sum: a + b } }),
  );
  server.registerResource('hello', 'note://hello', { description: 'The one note', mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'hello from a note' }],
  }));
  server.registerResource(
    'greeting',
    new ResourceTemplate('greeting://{name}', { list: undefined }),
    { description: 'A greeting for somebody', mimeType: 'text/plain' },
    async (uri, { name }) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: `hello, ${name}` }] }),
  );
  server.registerPrompt(
    'greet',
    { description: 'Asks for a greeting', argsSchema: z.object({ name: z.string().describe('Who is greeted') }) },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Please greet ${name}.` } }] }),
  );
  return server;
}

if (port === undefined) {
  serveStdio(makeServer);
} else {
  const handler = toNodeHandler(createMcpHandler(makeServer));
  const isOurHost = localhostHostValidation();
  const isOurOrigin = localhostOriginValidation();
  createServer((request, response) => {
    if (isOurHost(request, response) && isOurOrigin(request, response)) {
      Promise.resolve(handler(request, response)).catch((error) => {
        console.error(error);
        response.destroy();
      });
    }
  }).listen(Number(port), '127.0.0.1');
}
