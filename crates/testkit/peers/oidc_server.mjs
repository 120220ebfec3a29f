// A protected MCP server whose authorization server is node-oidc-provider. The page asks nobody: it
// signs in as `tester` and consents. Prints the addresses as JSON, then one line per token request.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(`${process.argv[2]}/x.js`));
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);

const listen = (server) => new Promise((done) => {
  server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${server.address().port}`));
});
const lifetime = Number(process.argv[3] ?? 3600);

const authority = createServer((request, response) => callback(request, response));
const protectedServer = createServer((request, response) => serve(request, response));
const issuer = await listen(authority);
const origin = await listen(protectedServer);
const resource = `${origin}/mcp`;

const provider = new Provider(issuer, {
  scopes: ['openid', 'offline_access'],
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { AccessToken: lifetime, RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 600, DeviceCode: 600 },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    deviceFlow: { enabled: process.argv[4] === 'device' },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, asked) => {
        if (asked !== resource) throw new Error(`unknown resource ${asked}`);
        return { scope: 'read admin', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: lifetime };
      },
    },
  },
});

async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'tester' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope('openid offline_access');
  grant.addResourceScope(resource, params.scope);
  const grantId = await grant.save();
  return provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
}

async function callback(request, response) {
  if (request.url.startsWith('/token')) console.log(JSON.stringify({ token: true }));
  if (!request.url.startsWith('/interaction/')) return provider.callback()(request, response);
  try {
    await interact(request, response);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

function json(response, status, value, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function challenge(response, status, error, scope) {
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const value = `Bearer error="${error}", scope="${scope}", resource_metadata="${metadata}"`;
  json(response, status, { error }, { 'www-authenticate': value });
}

async function serve(request, response) {
  if (request.url.startsWith('/.well-known/oauth-protected-resource')) {
    return json(response, 200, { resource, authorization_servers: [issuer], scopes_supported: ['read'] });
  }
  const sent = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const token = sent && await provider.AccessToken.find(sent);
  if (!token || token.isExpired || token.aud !== resource) return challenge(response, 401, 'invalid_token', 'read');
  let body = '';
  for await (const part of request) body += part;
  if (request.method !== 'POST') return json(response, 405, {});
  const { id, method, params } = JSON.parse(body);
  if (params?.name === 'admin' && !token.scope.split(' ').includes('admin')) {
    return challenge(response, 403, 'insufficient_scope', 'read admin');
  }
  if (id === undefined) return json(response, 202, {});
  const tool = (name) => ({ name, description: 'tells the user', inputSchema: { type: 'object' } });
  const results = {
    initialize: {
      protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'oidc', version: '1' },
    },
    'tools/list': { tools: [tool('whoami'), tool('admin')] },
    'tools/call': { content: [{ type: 'text', text: `${token.accountId} ${token.scope}` }] },
  };
  const result = results[method];
  if (!result) return json(response, 200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
  return json(response, 200, { jsonrpc: '2.0', id, result });
}

console.log(JSON.stringify({ server: resource, issuer }));
