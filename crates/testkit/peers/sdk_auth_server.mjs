// A protected MCP server and its authorization server, both of the TypeScript SDK: its router, its
// in-memory provider and its bearer check. The page signs in at once. Prints the addresses as JSON.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(`${process.argv[2]}/x.js`));
const sdk = (path) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
const { default: express } = await import(pathToFileURL(require.resolve('express')).href);
const { DemoInMemoryAuthProvider } = await sdk('examples/server/demoInMemoryOAuthProvider.js');
const { mcpAuthRouter, getOAuthProtectedResourceMetadataUrl } = await sdk('server/auth/router.js');
const { requireBearerAuth } = await sdk('server/auth/middleware/bearerAuth.js');
const { McpServer } = await sdk('server/mcp.js');
const { StreamableHTTPServerTransport } = await sdk('server/streamableHttp.js');

const app = express();
const listening = createServer(app);
await new Promise((done) => listening.listen(0, '127.0.0.1', done));
const origin = `http://127.0.0.1:${listening.address().port}`;
const resource = new URL(`${origin}/mcp`);

// A token for another resource than this server is refused.
const provider = new DemoInMemoryAuthProvider((asked) => asked?.href === resource.href);
app.use(mcpAuthRouter({
  provider, issuerUrl: new URL(origin), resourceServerUrl: resource, scopesSupported: ['mcp:tools'],
}));

const bearer = requireBearerAuth({
  verifier: provider, requiredScopes: ['mcp:tools'], resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
});
app.post('/mcp', bearer, express.json(), async (request, response) => {
  const server = new McpServer({ name: 'sdk', version: '1' });
  server.registerTool('whoami', { description: 'tells the scopes of the token' }, (extra) => ({
    content: [{ type: 'text', text: extra.authInfo.scopes.join(' ') }],
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});

console.log(JSON.stringify({ server: resource.href, issuer: origin }));
