"""The client for ordinary programs, against the real binary."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import Server, serve

from trunkline_client import (
    Client,
    ConnectionFailed,
    ExecutionError,
    PermissionDenied,
    RateLimitError,
    TimeoutExceeded,
    ToolNotFoundError,
    ValidationError,
)


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, key=server.key) as client:
        yield client


def test_h9_tools_are_discovered_filtered_and_described(client: Client) -> None:
    assert any(tool.name == "echo_nap" and tool.server == "echo" for tool in client.discover_tools())
    found = client.discover_tools(q="so many milliseconds", server="echo")
    assert [tool.name for tool in found] == ["echo_nap"]
    assert client.discover_tools(tags=["none"]) == []
    assert client.get_tool("echo_nap").input_schema["properties"] == {"ms": {"type": "integer"}}


def test_h9_a_tool_is_executed(client: Client) -> None:
    result = client.execute_tool("echo_echo", {"text": "grüezi 😀"}, priority="high", user_id="u")
    assert result.text == "grüezi 😀"
    assert result.execution_id and result.timestamp.endswith("Z")
    assert client.execute_tool("echo_echo", {"text": "plain"}, idempotency_key=False).text == "plain"


def test_h4_progress_arrives_in_a_callback(client: Client) -> None:
    seen: list[Any] = []
    result = client.execute_tool("echo_echo", {"text": "hi", "steps": 3}, on_progress=seen.append)
    assert result.text == "hi"
    assert seen == [{"progress": step, "message": "hi"} for step in (1, 2, 3)]


def test_h4_events_are_an_iterator(client: Client) -> None:
    types = [event.type for event in client.stream_tool("echo_echo", {"text": "hi", "steps": 2})]
    assert [kind for kind in types if kind != "state"] == ["progress", "progress", "result"]


def test_h4_leaving_the_iterator_is_possible_at_any_time(client: Client) -> None:
    with closing(client.stream_tool("echo_echo", {"text": "hi", "steps": 2})) as events:
        assert next(events)
    assert client.execute_tool("echo_echo", {"text": "after"}).text == "after"


def test_h3_errors_have_their_class_code_and_details(client: Client) -> None:
    with pytest.raises(ToolNotFoundError) as unknown:
        client.execute_tool("nothing")
    assert unknown.value.code == "TOOL_NOT_FOUND"
    with pytest.raises(ValidationError) as invalid:
        client.execute_tool("echo_echo", priority="urgent")  # type: ignore[arg-type]
    assert invalid.value.status == 400 and not invalid.value.retryable
    assert invalid.value.details["field"] == "context.priority"
    assert invalid.value.details["provided"] == "urgent"
    with pytest.raises(TimeoutExceeded) as late:
        client.execute_tool("echo_nap", {"ms": 60_000}, timeout=0.05)
    assert late.value.execution_id


def test_h3_a_failed_tool_is_an_execution_error(server: Server) -> None:
    with Client(server.url, key=server.key, retries=0) as once, pytest.raises(ExecutionError):
        once.execute_tool("echo_fail", {"text": "broken"})


def test_h5_credentials_are_asked_for(server: Server) -> None:
    with Client(server.url) as nobody, pytest.raises(PermissionDenied) as refused:
        nobody.discover_tools()
    assert refused.value.status == 401


def test_h6_an_own_time_limit_ends_the_wait(server: Server) -> None:
    with Client(server.url, key=server.key, timeout=0.2, retries=0) as hasty, pytest.raises(TimeoutExceeded):
        hasty.execute_tool("echo_nap", {"ms": 60_000})


def test_h9_a_server_that_does_not_exist_is_a_failed_connection() -> None:
    with Client("http://127.0.0.1:9", retries=1) as lost, pytest.raises(ConnectionFailed, match="GET /tools"):
        lost.discover_tools()


def test_h1_views_and_single_servers_have_their_own_tools(server: Server) -> None:
    with Client(server.url, key=server.key, view="server/echo") as one:
        assert one.execute_tool("echo", {"text": "inner"}).text == "inner"


def test_h3_a_used_up_quota_is_told_and_waited_for(tmp_path: Path) -> None:
    limits = {"perCaller": {"calls": 2, "per": "2s"}}
    with serve(tmp_path, limits=limits) as limited:
        with Client(limited.url, key=limited.key) as patient:
            texts = [patient.execute_tool("echo_echo", {"text": text}).text for text in "1234"]
        assert texts == ["1", "2", "3", "4"]
        with Client(limited.url, key=limited.key, retries=0) as hasty, pytest.raises(RateLimitError) as full:
            for _ in range(100):
                hasty.execute_tool("echo_echo", {"text": "x"})
    assert full.value.retryable and full.value.retry_after and full.value.retry_after >= 1


def test_the_wheel_has_types(tmp_path: Path) -> None:
    import subprocess
    import sys
    import zipfile

    project = Path(__file__).resolve().parents[1]
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(project)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = tmp_path.glob("trunkline_client-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "trunkline_client/py.typed" in names and "trunkline_client/_async.py" in names
    assert not any("test" in name for name in names), json.dumps(names)
