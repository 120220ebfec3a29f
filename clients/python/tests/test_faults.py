"""Faults that no healthy server shows, from a scripted one."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator

import pytest

from trunkline_client import Client, ConnectionFailed, ExecutionError, RateLimitError, TrunklineError

RESULT = {
    "success": True,
    "result": {"content": [{"type": "text", "text": "ok"}]},
    "metadata": {"executionId": "e-1", "duration": 1, "timestamp": "2026-01-01T00:00:00Z"},
}
AT = {"Location": "/mcp/executions/e-1"}
Respond = Callable[[BaseHTTPRequestHandler], None]


def reply(status: int, text: str, kind: str = "application/json", **headers: str) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Connection": "close", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(text.encode())
        handler.close_connection = True

    return respond


def failure(status: int, code: str, retryable: bool, **headers: str) -> Respond:
    error = {"code": code, "message": "no", "details": {"retryable": retryable}}
    return reply(status, json.dumps({"success": False, "error": error}), **headers)


def event(number: int, name: str, data: Any) -> str:
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"


def events(text: str, **headers: str) -> Respond:
    return reply(200, text, "text/event-stream", **headers)


def drop(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


@contextmanager
def scripted(*answers: Respond) -> Iterator[tuple[Client, list[Any]]]:
    """A client of a server that answers with these functions in turn, and its requests."""
    requests: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append((self.command, self.path, self.headers))
            given = answers[len(requests) - 1] if len(requests) <= len(answers) else reply(500, "{}")
            given(self)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with Client(f"http://127.0.0.1:{server.server_port}") as client:
            yield client, requests
    finally:
        server.shutdown()
        server.server_close()


def keys(requests: list[Any]) -> list[Any]:
    return [headers.get("Idempotency-Key") for _, _, headers in requests]


def test_a_lost_call_is_repeated_with_the_same_key() -> None:
    with scripted(drop, events(event(1, "result", RESULT))) as (client, requests):
        assert client.execute_tool("t").text == "ok"
        first, second = keys(requests)
        assert first == second and len(first) >= 32


def test_a_lost_call_without_a_key_is_not_repeated() -> None:
    with scripted(drop) as (client, requests), pytest.raises(ConnectionFailed):
        client.execute_tool("t", idempotency_key=False)
    assert keys(requests) == [None]


def test_a_failure_that_allows_it_is_repeated_as_a_new_call() -> None:
    answers = failure(503, "EXECUTION_ERROR", True), events(event(1, "result", RESULT))
    with scripted(*answers) as (client, requests):
        assert client.execute_tool("t").text == "ok"
        first, second = keys(requests)
        assert first != second


def test_a_failure_that_does_not_allow_it_is_raised_at_once() -> None:
    with scripted(failure(502, "EXECUTION_ERROR", False)) as (client, requests):
        with pytest.raises(ExecutionError):
            client.execute_tool("t")
        assert len(requests) == 1


def test_retry_after_is_respected_and_a_long_one_left_to_the_caller() -> None:
    began = time.monotonic()
    answers = failure(429, "RATE_LIMIT_ERROR", True, Retry_After="1"), reply(200, '{"tools": []}')
    with scripted(*answers) as (client, _):
        assert client.discover_tools() == []
    assert time.monotonic() - began >= 1
    with scripted(failure(429, "RATE_LIMIT_ERROR", True, Retry_After="3600")) as (client, requests):
        with pytest.raises(RateLimitError) as full:
            client.discover_tools()
        assert full.value.retry_after == 3600 and len(requests) == 1


def test_a_broken_stream_is_resumed_where_it_broke() -> None:
    first = events(event(1, "progress", {"progress": 1}) + event(2, "progress", {"progress": 2}), **AT)
    second = events(event(3, "progress", {"progress": 3}) + event(4, "result", RESULT))
    with scripted(first, second) as (client, requests):
        seen: list[Any] = []
        client.execute_tool("t", on_progress=seen.append)
        assert [progress["progress"] for progress in seen] == [1, 2, 3]
        method, path, headers = requests[1]
        assert (method, path, headers["Last-Event-ID"]) == ("GET", "/mcp/executions/e-1/events", "2")


def test_an_abandoned_execution_is_cancelled() -> None:
    answers = events(event(1, "progress", {}), **AT), reply(200, '{"executionId": "e-1", "state": "cancelled"}')
    with scripted(*answers) as (client, requests):
        with closing(client.stream_tool("t")) as running:
            assert next(running).type == "progress"
        assert requests[1][:2] == ("DELETE", "/mcp/executions/e-1")


def test_an_answer_of_something_else_is_told_apart() -> None:
    with scripted(reply(200, "<html>")) as (client, _):
        with pytest.raises(TrunklineError, match="no JSON; is this a Trunkline server"):
            client.get_tool("t")
