// A client made with the TypeScript SDK: connects, lists the tools, makes the calls it is told to, closes, and reports.
//
//   node typescript.cjs 1|2 legacy|modern stdio|http|sse ERRANDS
//
// The first word is the SDK's major version. ERRANDS is a JSON array of `{target, calls, reads, prompts}`, one for each
// server: the words of a command or one URL, `[tool, arguments]` each, URIs, and `[prompt, arguments]` each. The reports are
// one JSON array on stdout: the revision agreed on, the names of the tools, the results in order, and the questions that
// were answered. Questions of the server are accepted with what the variable ANSWER holds; where SAMPLE is set, it is what
// the client's model says. The packages are found by NODE_PATH.
'use strict';

const MODERN = '2026-07-28';
let asked = [];

function answer(request) {
  asked.push(request.params.message);
  return { action: 'accept', content: JSON.parse(process.env.ANSWER ?? '{}') };
}

function sample() {
  return { model: 'a model', role: 'assistant', content: { type: 'text', text: process.env.SAMPLE } };
}

const samples = process.env.SAMPLE !== undefined;
const options = { capabilities: { elicitation: { form: {} }, ...(samples ? { sampling: {} } : {}) } };
const me = { name: 'foreign-typescript', version: '1.0.0' };

function first(kind, target) {
  const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
  const { CreateMessageRequestSchema, ElicitRequestSchema } = require('@modelcontextprotocol/sdk/types.js');
  const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { SSEClientTransport } = require('@modelcontextprotocol/sdk/client/sse.js');
  const client = new Client(me, options);
  client.setRequestHandler(ElicitRequestSchema, answer);
  if (samples) {
    client.setRequestHandler(CreateMessageRequestSchema, sample);
  }
  const transport = open(kind, target, { StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport });
  // This version tells the revision to its transport and to nobody else.
  const told = transport.setProtocolVersion?.bind(transport);
  let revision;
  transport.setProtocolVersion = (version) => {
    revision = version;
    told?.(version);
  };
  return { client, transport, revision: () => revision };
}

function second(kind, target, era) {
  const { Client, StreamableHTTPClientTransport, SSEClientTransport } = require('@modelcontextprotocol/client');
  const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
  const mode = era === 'modern' ? { pin: MODERN } : 'legacy';
  const client = new Client(me, { ...options, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', answer);
  if (samples) {
    client.setRequestHandler('sampling/createMessage', sample);
  }
  const transport = open(kind, target, { StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport });
  return { client, transport, revision: () => client.getNegotiatedProtocolVersion() };
}

function open(kind, target, transports) {
  switch (kind) {
    case 'stdio':
      return new transports.StdioClientTransport({ command: target[0], args: target.slice(1) });
    case 'http':
      return new transports.StreamableHTTPClientTransport(new URL(target[0]));
    case 'sse':
      return new transports.SSEClientTransport(new URL(target[0]));
    default:
      throw new Error(`no transport is called ${kind}`);
  }
}

async function visit(major, era, kind, { target, calls, reads = [], prompts = [] }) {
  const { client, transport, revision } = major === '1' ? first(kind, target) : second(kind, target, era);
  asked = [];
  await client.connect(transport);
  const { tools } = await client.listTools();
  const results = [];
  for (const [name, args] of calls) {
    results.push(await client.callTool({ name, arguments: args }));
  }
  const read = [];
  for (const uri of reads) {
    read.push(await client.readResource({ uri }));
  }
  const prompted = [];
  for (const [name, args] of prompts) {
    prompted.push(await client.getPrompt({ name, arguments: args }));
  }
  const report = { revision: revision(), tools: tools.map((tool) => tool.name), results, read, prompted, asked };
  if (kind === 'http') {
    await transport.terminateSession();
  }
  await client.close();
  return report;
}

async function main([major, era, kind, errands]) {
  const reports = [];
  for (const errand of JSON.parse(errands)) {
    reports.push(await visit(major, era, kind, errand));
  }
  console.log(JSON.stringify(reports));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
