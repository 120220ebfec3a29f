"""A protected MCP server whose authorization server is built with Authlib. The page asks nobody: it
signs in as `tester`. Prints the addresses as JSON. The argument is the lifetime of access tokens in
seconds."""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

# Authlib refuses plain http; these servers listen on loopback only.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.common.security import generate_token  # noqa: E402
from authlib.oauth2.rfc6749 import (  # noqa: E402
    AuthorizationCodeMixin,
    AuthorizationServer,
    ClientMixin,
    JsonRequest,
    OAuth2Error,
    OAuth2Request,
    TokenMixin,
    grants,
    list_to_scope,
    scope_to_list,
)
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload  # noqa: E402
from authlib.oauth2.rfc6750 import BearerTokenGenerator  # noqa: E402
from authlib.oauth2.rfc7009 import RevocationEndpoint  # noqa: E402
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata  # noqa: E402
from authlib.oauth2.rfc9207 import IssuerParameter  # noqa: E402

LIFETIME = int(sys.argv[1]) if len(sys.argv) > 1 else 3600
USER = "tester"
SCOPES = ["read", "admin"]
AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
METADATA = "/.well-known/oauth-protected-resource"

clients: dict[str, "Client"] = {}
codes: dict[str, "Code"] = {}
tokens: list["Token"] = []


class Client(ClientMixin):
    def __init__(self, info, metadata):
        self.id, self.secret, self.metadata = info["client_id"], info["client_secret"], metadata

    def get_client_id(self):
        return self.id

    def get_default_redirect_uri(self):
        return self.metadata["redirect_uris"][0]

    def get_allowed_scope(self, scope):
        return list_to_scope([one for one in scope_to_list(scope or "") if one in SCOPES])

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in self.metadata["redirect_uris"]

    def check_client_secret(self, client_secret):
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.metadata.get("token_endpoint_auth_method", "client_secret_basic")

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in self.metadata.get("grant_types", ["authorization_code"])


class Code(AuthorizationCodeMixin):
    def __init__(self, code, request):
        data = request.payload.data
        self.code, self.client_id = code, request.client.get_client_id()
        self.redirect_uri, self.scope = request.payload.redirect_uri, request.scope
        self.resource = data.get("resource")
        self.code_challenge = data.get("code_challenge")
        self.code_challenge_method = data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(TokenMixin):
    def __init__(self, issued, request):
        self.access, self.refresh = issued["access_token"], issued.get("refresh_token")
        self.scope, self.ends = issued["scope"], time.time() + issued["expires_in"]
        self.client_id, self.revoked = request.client.get_client_id(), False
        source = request.authorization_code or request.refresh_token
        self.resource = request.payload.data.get("resource")
        if self.resource != source.resource:
            raise OAuth2Error("another resource")

    def check_client(self, client):
        return self.client_id == client.get_client_id()

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return LIFETIME

    def is_expired(self):
        return self.ends < time.time()

    def is_revoked(self):
        return self.revoked

    def get_user(self):
        return USER

    def get_client(self):
        return clients[self.client_id]


class Response:
    def __init__(self, status, body, headers):
        self.status, self.body, self.headers = status, body, dict(headers)

    @property
    def location(self):
        return self.headers.get("Location")

    @location.setter
    def location(self, value):
        self.headers["Location"] = value


class Request(OAuth2Request):
    def __init__(self, handler, body):
        super().__init__(handler.command, issuer + handler.path, headers=handler.headers)
        query = parse_qs(urlsplit(handler.path).query)
        values = query if handler.command == "GET" else parse_qs(body)
        self.fields = {name: found[0] for name, found in values.items()}
        self.payload = BasicOAuth2Payload(self.fields)

    @property
    def args(self):
        return self.fields

    @property
    def form(self):
        return self.fields


class Registration(JsonRequest):
    def __init__(self, handler, body):
        super().__init__(handler.command, issuer + handler.path, handler.headers)
        self.payload = BasicOAuth2Payload(json.loads(body))


class Authority(AuthorizationServer):
    def query_client(self, client_id):
        return clients.get(client_id)

    def save_token(self, token, request):
        tokens.append(Token(token, request))

    def send_signal(self, name, *args, **kwargs):
        pass

    def create_oauth2_request(self, request):
        return request

    def create_json_request(self, request):
        return request

    def handle_response(self, status, body, headers):
        return Response(status, body, headers)


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def save_authorization_code(self, code, request):
        codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client_id == client.get_client_id() else None

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return USER


class Rotation(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return next((token for token in tokens if token.refresh == refresh_token and not token.revoked), None)

    def authenticate_user(self, refresh_token):
        return USER

    def revoke_old_credential(self, refresh_token):
        refresh_token.revoked = True


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = AUTH_METHODS

    def query_token(self, token_string, token_type_hint):
        return next((token for token in tokens if token_string in (token.access, token.refresh)), None)

    def revoke_token(self, token, request):
        token.revoked = True


class OpenRegistration(ClientRegistrationEndpoint):
    def authenticate_token(self, request):
        return "anybody"

    def get_server_metadata(self):
        return metadata

    def save_client(self, client_info, client_metadata, request):
        clients[client_info["client_id"]] = Client(client_info, client_metadata)
        return clients[client_info["client_id"]]


class Issuer(IssuerParameter):
    def get_issuer(self):
        return issuer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def send(self, status, value, headers=()):
        text = value if isinstance(value, str) else json.dumps(value)
        self.send_response(status)
        for name, field in {"Content-Type": "application/json", **dict(headers)}.items():
            self.send_header(name, field)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_POST(self):
        self.answer()

    def do_GET(self):
        self.answer()


class AuthorityHandler(Handler):
    def answer(self):
        path, body = urlsplit(self.path).path, self.body()
        if path == "/.well-known/oauth-authorization-server":
            return self.send(200, metadata)
        if path == "/authorize":
            request = Request(self, body)
            try:
                grant = authority.get_consent_grant(request, USER)
            except OAuth2Error as error:
                return self.send(400, {"error": str(error)})
            response = authority.create_authorization_response(request, USER, grant)
        elif path == "/token":
            response = authority.create_token_response(Request(self, body))
        elif path == "/register":
            response = authority.create_endpoint_response("client_registration", Registration(self, body))
        elif path == "/revoke":
            response = authority.create_endpoint_response("revocation", Request(self, body))
        else:
            return self.send(404, {})
        return self.send(response.status, response.body, response.headers)


class ProtectedHandler(Handler):
    def challenge(self, status, error, scope):
        value = f'Bearer error="{error}", scope="{scope}", resource_metadata="{origin}{METADATA}/mcp"'
        self.send(status, {"error": error}, {"WWW-Authenticate": value})

    def answer(self):
        body = self.body()
        if self.path.startswith(METADATA):
            return self.send(200, {"resource": resource, "authorization_servers": [issuer],
                                   "scopes_supported": ["read"]})
        sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
        token = next((token for token in tokens if token.access == sent), None)
        if not token or token.revoked or token.is_expired() or token.resource != resource:
            return self.challenge(401, "invalid_token", "read")
        if self.command != "POST":
            return self.send(405, {})
        message = json.loads(body)
        name = message.get("params", {}).get("name")
        if name == "admin" and "admin" not in token.scope.split():
            return self.challenge(403, "insufficient_scope", "read admin")
        if "id" not in message:
            return self.send(202, {})
        tools = [{"name": tool, "description": "tells the user", "inputSchema": {"type": "object"}}
                 for tool in ("whoami", "admin")]
        results = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "authlib", "version": "1"}},
            "tools/list": {"tools": tools},
            "tools/call": {"content": [{"type": "text", "text": f"{USER} {token.scope}"}]},
        }
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        result = results.get(message["method"])
        known = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
        return self.send(200, answer | known)


def listen(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    return server, f"http://127.0.0.1:{server.server_port}"


authority_server, issuer = listen(AuthorityHandler)
protected_server, origin = listen(ProtectedHandler)
resource = f"{origin}/mcp"
metadata = AuthorizationServerMetadata({
    "issuer": issuer,
    "authorization_endpoint": f"{issuer}/authorize",
    "token_endpoint": f"{issuer}/token",
    "registration_endpoint": f"{issuer}/register",
    "revocation_endpoint": f"{issuer}/revoke",
    "scopes_supported": SCOPES,
    "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token"],
    "code_challenge_methods_supported": ["S256"],
    "token_endpoint_auth_methods_supported": AUTH_METHODS,
    "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
    "authorization_response_iss_parameter_supported": True,
})
authority = Authority(SCOPES)
authority.register_token_generator("default", BearerTokenGenerator(
    lambda **_: generate_token(42), lambda **_: generate_token(48), lambda client, grant: LIFETIME))
authority.register_grant(CodeGrant, [CodeChallenge(required=True)])
authority.register_grant(Rotation)
authority.register_endpoint(Revocation)
authority.register_endpoint(OpenRegistration())
authority.register_extension(lambda server: Issuer()(server))

for server in (authority_server, protected_server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"server": resource, "issuer": issuer}), flush=True)
sys.stdin.read()
