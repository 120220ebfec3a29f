"""Executions that outlive their request, against the real binary."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from typing import Iterator

import pytest
from conftest import Server

from trunkline_client import (
    Answer,
    AsyncClient,
    Client,
    ExecutionError,
    ExecutionNotFoundError,
    Question,
    TimeoutExceeded,
    ValidationError,
)

ADA = {"action": "accept", "content": {"name": "Ada"}}


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, key=server.key) as client:
        yield client


def gate(server: Server, name: str) -> dict[str, str]:
    return {"text": "through", "path": str(server.folder / name)}


def test_an_execution_is_started_listed_waited_for_and_kept(server: Server, client: Client) -> None:
    execution = client.start_tool("echo_gate", gate(server, "one"))
    assert execution.get().state in ("queued", "running")
    listed = client.list_executions(tool="echo_gate", state=["queued", "running"])
    assert execution.id in [one.id for one in listed]
    with pytest.raises(TimeoutExceeded):
        execution.wait(0.01)
    (server.folder / "one").touch()
    assert execution.wait().text == "through"
    assert client.execution(execution.id).wait().execution_id == execution.id


def test_events_are_followed_and_resumed_without_a_gap_or_a_repeat(client: Client) -> None:
    execution = client.start_tool("echo_echo", {"text": "hi", "steps": 3})
    everything = list(execution.events())
    steps = [event.data["progress"] for event in everything if event.type == "progress"]
    assert steps == [1, 2, 3]
    for place, event in enumerate(everything[:-1]):
        rest = [later.id for later in execution.events(after=event.id)]
        assert rest == [later.id for later in everything[place + 1 :]]


def test_an_execution_is_cancelled(server: Server, client: Client) -> None:
    execution = client.start_tool("echo_gate", gate(server, "never"))
    assert execution.cancel().state == "cancelled"
    with pytest.raises(ExecutionError, match="was cancelled"):
        execution.wait()


def test_a_question_is_answered_or_declined(client: Client) -> None:
    def answer(question: Question) -> Answer:
        assert question.message == "Who?" and question.schema
        return Answer({"name": "Ada"})

    assert json.loads(client.start_tool("echo_ask").wait(on_question=answer).text) == ADA
    assert json.loads(client.execute_tool("echo_ask", on_question=answer).text) == ADA
    assert json.loads(client.start_tool("echo_ask").wait().text)["action"] == "decline"


def test_a_call_with_the_same_key_runs_once(client: Client) -> None:
    first = client.execute_tool("echo_pid", idempotency_key="the same")
    again = client.execute_tool("echo_pid", idempotency_key="the same")
    assert first.execution_id == again.execution_id
    with pytest.raises(ValidationError):
        client.execute_tool("echo_echo", {"text": "x"}, idempotency_key="the same")


def test_an_abandoned_call_is_cancelled_at_the_server(server: Server, client: Client) -> None:
    with closing(client.stream_tool("echo_gate", gate(server, "left"))) as events:
        next(events)
    states = [one.state for one in client.list_executions(tool="echo_gate")]
    assert "running" not in states and "queued" not in states


def test_an_unknown_execution_is_told_apart(client: Client) -> None:
    with pytest.raises(ExecutionNotFoundError):
        client.execution("nothing").get()


def test_executions_with_asyncio(server: Server) -> None:
    async def answer(_: Question) -> Answer:
        return Answer({"name": "Ada"})

    async def work() -> None:
        async with AsyncClient(server.url, key=server.key) as client:
            execution = await client.start_tool("echo_ask")
            assert json.loads((await execution.wait(on_question=answer)).text) == ADA
            types = [event.type async for event in execution.events()]
            assert types[-1] == "result" and "question" in types
            waiting = asyncio.create_task(client.execute_tool("echo_gate", gate(server, "task")))
            while not await client.list_executions(tool="echo_gate", state="running"):
                await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert not await client.list_executions(tool="echo_gate", state=["queued", "running"])

    asyncio.run(work())
