"""A client made with the Python SDK or FastMCP: connects, lists the tools, makes the calls it is told to, closes, reports.

    python python_client.py sdk|fastmcp legacy|modern stdio|http|sse ERRANDS

ERRANDS is a JSON array of `{target, calls, reads, prompts}`, one for each server: the words of a command or one URL,
`[tool, arguments]` each, URIs, and `[prompt, arguments]` each. The reports are one JSON array on stdout: the revision
agreed on, the names of the tools, the results in order, and the questions that were answered. Questions of the server are
accepted with what the variable ANSWER holds; where SAMPLE is set, it is what the model of an SDK client says. Where SILENT
is set, an SDK client does not answer questions at all.
"""

import asyncio
import json
import os
import sys

asked = []


def answer(message):
    asked.append(message)
    return json.loads(os.environ.get("ANSWER", "{}"))


def connect_with_sdk(mode, kind, target):
    import mcp_types
    from mcp import Client, StdioServerParameters
    from mcp.client.sse import sse_client

    async def elicit(_context, params):
        return mcp_types.ElicitResult(action="accept", content=answer(params.message))

    async def sample(_context, _params):
        said = mcp_types.TextContent(type="text", text=os.environ["SAMPLE"])
        return mcp_types.CreateMessageResult(role="assistant", model="a model", content=said)

    server = {
        "stdio": lambda: StdioServerParameters(command=target[0], args=target[1:]),
        "http": lambda: target[0],
        "sse": lambda: sse_client(target[0]),
    }[kind]()
    sampling = sample if "SAMPLE" in os.environ else None
    asking = None if "SILENT" in os.environ else elicit
    client = Client(server, mode=mode, elicitation_callback=asking, sampling_callback=sampling)
    return client, lambda: client.protocol_version, client.call_tool


def connect_with_fastmcp(mode, kind, target):
    from fastmcp import Client
    from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

    async def elicit(message, _response_type, _params, _context):
        return answer(message)

    transport = {
        "stdio": lambda: StdioTransport(target[0], target[1:], keep_alive=False),
        "http": lambda: StreamableHttpTransport(target[0]),
        "sse": lambda: SSETransport(target[0]),
    }[kind]()
    client = Client(transport, mode=mode, elicitation_handler=elicit)
    return client, lambda: client.session.protocol_version, client.call_tool_mcp


async def visit(connect, era, kind, errand):
    client, revision, call = connect("auto" if era == "modern" else "legacy", kind, errand["target"])
    asked.clear()
    async with client:
        listed = await client.list_tools()
        tools = [tool.name for tool in getattr(listed, "tools", listed)]
        results = [await call(name, arguments) for name, arguments in errand["calls"]]
        read = [await client.read_resource(uri) for uri in errand.get("reads", [])]
        prompted = [await client.get_prompt(name, arguments) for name, arguments in errand.get("prompts", [])]
        return {
            "revision": revision(),
            "tools": tools,
            "results": plain(results),
            "read": plain(read),
            "prompted": plain(prompted),
            "asked": list(asked),
        }


def plain(results):
    return [result.model_dump(mode="json", by_alias=True, exclude_none=True) for result in results]


async def main(library, era, kind, errands):
    connect = {"sdk": connect_with_sdk, "fastmcp": connect_with_fastmcp}[library]
    print(json.dumps([await visit(connect, era, kind, errand) for errand in json.loads(errands)]))


asyncio.run(main(*sys.argv[1:]))
