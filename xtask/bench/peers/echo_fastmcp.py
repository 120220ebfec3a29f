"""A FastMCP server with one tool, `echo {text}`, as it comes, to measure ours beside.

The first line on stdout is `listening on URL`, printed once the socket accepts connections.
"""

import socket

from fastmcp import FastMCP
from mcp_types import ToolAnnotations

server = FastMCP(name="bench-server", version="1.0.0")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def echo(text: str) -> str:
    """Returns its text."""
    return text


def main() -> None:
    # Only a socket that names its protocol gets TCP_NODELAY from asyncio, as one of its own making would.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        port = listener.getsockname()[1]
        print(f"listening on http://127.0.0.1:{port}/mcp", flush=True)
        server.run(transport="http", show_banner=False, log_level="critical", path="/mcp", sockets=[listener])


if __name__ == "__main__":
    main()
