"""A protected MCP server and its authorization server, both of the Python SDK: its routes, its bearer
check, and the in-memory provider that FastMCP has for it. The page signs in at once. Prints the
addresses as JSON."""

import asyncio
import json
import socket

import uvicorn
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer


async def main():
    listening = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    scopes = ["read", "admin"]
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=scopes, default_scopes=scopes)
    provider = InMemoryOAuthProvider(base_url=origin, client_registration_options=registration)
    auth = AuthSettings(
        issuer_url=origin,
        resource_server_url=f"{origin}/mcp",
        required_scopes=["read"],
        client_registration_options=registration,
        revocation_options=RevocationOptions(enabled=True),
        # The provider does not keep the resource of its tokens.
        validate_token_resource=False,
    )
    server = MCPServer("sdk", auth=auth, auth_server_provider=provider)

    @server.tool()
    def whoami() -> str:
        """Tells the scopes of the token."""
        return " ".join(get_access_token().scopes)

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    config = uvicorn.Config(app, log_level="error")
    print(json.dumps({"server": f"{origin}/mcp", "issuer": origin}), flush=True)
    await uvicorn.Server(config).serve(sockets=[listening])


asyncio.run(main())
