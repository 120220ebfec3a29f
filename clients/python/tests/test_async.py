"""The client for programs with asyncio, against the real binary."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, Awaitable, Callable

import pytest
from conftest import Server

from trunkline_client import AsyncClient, ToolNotFoundError

Work = Callable[[AsyncClient], Awaitable[None]]


def with_client(server: Server, work: Work) -> None:
    async def run() -> None:
        async with AsyncClient(server.url, key=server.key) as client:
            await work(client)

    asyncio.run(run())


def test_h9_tools_are_discovered_and_executed(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        assert [tool.name for tool in await client.discover_tools(q="so many milli")] == ["echo_nap"]
        assert (await client.get_tool("echo_nap")).server == "echo"
        texts = [str(number) for number in range(20)]
        results = await asyncio.gather(*(client.execute_tool("echo_echo", {"text": text}) for text in texts))
        assert [result.text for result in results] == texts
        with pytest.raises(ToolNotFoundError):
            await client.execute_tool("nothing")

    with_client(server, work)


def test_h4_progress_and_events(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        seen: list[Any] = []
        await client.execute_tool("echo_echo", {"text": "hi", "steps": 2}, on_progress=seen.append)
        assert [progress["progress"] for progress in seen] == [1, 2]
        async with aclosing(client.stream_tool("echo_echo", {"text": "hi", "steps": 2})) as events:
            types = [event.type async for event in events if event.type != "state"]
        assert types == ["progress", "progress", "result"]

    with_client(server, work)


def test_h9_a_cancelled_task_stops_the_call(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        task = asyncio.create_task(client.execute_tool("echo_nap", {"ms": 600_000}))
        while not await client.list_executions(tool="echo_nap", state="running"):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await client.execute_tool("echo_echo", {"text": "after"})).text == "after"

    with_client(server, work)
