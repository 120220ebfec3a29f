"""A FastMCP server that offers one of everything, for tests of a client.

    python fastmcp_server.py              speaks over stdin and stdout
    python fastmcp_server.py --http PORT  Streamable HTTP on 127.0.0.1, path /mcp; port 0 picks a free one

With --http the first line on stdout is `listening on URL`, printed once the socket accepts connections.

Tools that ask something in mid-call do it in the way of the era the caller speaks: as a request of the server's own up
to 2025-11-25, as an `input_required` result from 2026-07-28 on.
"""

import argparse
import socket
from typing import Annotated, Any

import anyio
import mcp_types as types
from fastmcp import Context, FastMCP
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel, Field

server = FastMCP(
    name="fastmcp-peer",
    version="1.0.0",
    instructions="A server for tests. Every tool does what its name says and nothing else.",
)

NOTES = {"hello": "hello from a note", "bye": "goodbye from a note"}
MOST_STEPS = 1000
LONGEST_DELAY = 60.0


class Cancellations:
    """The calls that were told to stop, and an event for the next of them."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = anyio.Event()


CANCELLATIONS = Cancellations()


class Sum(BaseModel):
    """The answer of `add`."""

    sum: int


@server.tool
def echo(text: str) -> str:
    """Answers with the text it was given."""
    return text


@server.tool
def add(a: int, b: int) -> Sum:
    """Adds two integers; the answer is structured."""
    return Sum(sum=a + b)


@server.tool
def fail(reason: str) -> str:
    """Always fails with the given reason, as a tool error."""
    raise ValueError(reason)


@server.tool
async def log(ctx: Context, text: str) -> str:
    """Logs the text once as debug, info, warning and error."""
    for level in ("debug", "info", "warning", "error"):
        await ctx.log(text, level=level, logger_name="peer")
    return "logged"


@server.tool
async def slow(
    ctx: Context,
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 3,
    delay: Annotated[float, Field(ge=0, le=LONGEST_DELAY)] = 0.05,
) -> str:
    """Waits `delay` seconds before each of `steps` steps and reports each as progress; may be cancelled."""
    try:
        for step in range(1, steps + 1):
            await anyio.sleep(delay)
            await ctx.report_progress(step, steps, f"step {step} of {steps}")
    except anyio.get_cancelled_exc_class():
        CANCELLATIONS.count += 1
        CANCELLATIONS.seen.set()
        raise
    return f"{steps} steps done"


@server.tool
async def cancelled(count: Annotated[int, Field(ge=1)] = 1) -> str:
    """Waits until so many calls of `slow` were cancelled, and tells how many."""
    while CANCELLATIONS.count < count:
        await CANCELLATIONS.seen.wait()
        CANCELLATIONS.seen = anyio.Event()
    return f"{CANCELLATIONS.count} cancelled"


@server.tool
async def ask_name(ctx: Context) -> str | types.InputRequiredResult:
    """Asks the user for a name with a form of one string field."""
    question = types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message="What is your name?",
            requested_schema={
                "type": "object",
                "properties": {"name": {"type": "string", "title": "Name", "minLength": 1}},
                "required": ["name"],
            },
        )
    )
    answer = await ask(ctx, question, types.ElicitResult)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    if answer.action != "accept":
        return f"no name: {answer.action}"
    return f"hello, {(answer.content or {}).get('name')}"


@server.tool
async def ask_model(ctx: Context, prompt: str = "Say something short.") -> str | types.InputRequiredResult:
    """Asks the client's model and answers with what it said."""
    question = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))],
            max_tokens=100,
        )
    )
    answer = await ask(ctx, question, types.CreateMessageResult)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    text = answer.content.text if isinstance(answer.content, types.TextContent) else answer.content.type
    return f"{answer.model} said: {text}"


@server.tool
async def show_roots(ctx: Context) -> str | types.InputRequiredResult:
    """Lists the client's roots, one per line."""
    answer = await ask(ctx, types.ListRootsRequest(), types.ListRootsResult)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    return "\n".join(str(root.uri) for root in answer.roots) or "no roots"


@server.resource("note://hello", name="hello", description="A note that is always there", mime_type="text/plain")
def hello() -> str:
    return NOTES["hello"]


@server.resource("note://{name}", name="note", description="A note by its name", mime_type="text/plain")
def note(name: str) -> str:
    if name not in NOTES:
        raise ValueError(f"there is no note named {name}")
    return NOTES[name]


@server.prompt
def greet(name: str) -> str:
    """Asks for a greeting."""
    return f"Please greet {name} in one sentence."


async def ask(ctx: Context, question: Any, kind: type[Any]) -> Any:
    """The client's answer to `question`, or the `InputRequiredResult` that the tool must return to get it."""
    if ctx.session.protocol_version < "2026-07-28":
        # Tied to the call, so that over HTTP the question travels on the call's own stream.
        about = ServerMessageMetadata(related_request_id=ctx.request_id)
        return await ctx.session.send_request(question, kind, metadata=about)
    given = (ctx.input_responses or {}).get("answer")
    if given is None:
        return types.InputRequiredResult(input_requests={"answer": question}, request_state="asked")
    if ctx.request_state != "asked":
        raise ValueError("the request state did not come back")
    return given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT")
    options = parser.parse_args()
    if options.http is None:
        server.run(transport="stdio", show_banner=False)
        return
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", options.http))
        listener.listen(128)
        port = listener.getsockname()[1]
        print(f"listening on http://127.0.0.1:{port}/mcp", flush=True)
        server.run(transport="http", show_banner=False, log_level="warning", path="/mcp", sockets=[listener])


if __name__ == "__main__":
    main()
