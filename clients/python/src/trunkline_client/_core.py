"""The parts that need no I/O: requests, answers, events and the decision to repeat."""

from __future__ import annotations

import json
import random
import re
import secrets
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence, TypedDict
from urllib.parse import quote, unquote

import httpx

from .errors import ConnectionFailed, ExecutionError, TimeoutExceeded, TrunklineError, error_of
from .types import Event, ExecutionStatus, JsonObject, Priority, ToolResult

DEFAULT_URL = "http://127.0.0.1:8425"
#: Longer than the time that the server gives a tool by default.
DEFAULT_TIMEOUT = 330.0
#: Seconds that one request waits for the end of an execution.
WAIT = 30
#: Seconds to cancel an execution whose caller gave up.
ABANDON = 5.0
#: Longest pause between attempts; a longer ``Retry-After`` is left to the caller.
LONGEST_PAUSE = 60.0
FIRST_PAUSE = 0.2
STREAM = "text/event-stream, application/json"


class Context(TypedDict):
    timeout: float | None
    priority: Priority | None
    session_id: str | None
    user_id: str | None


@dataclass(frozen=True)
class Settings:
    base: str
    headers: Mapping[str, str]
    timeout: float
    retries: int

    @classmethod
    def of(
        cls, url: str, key: str | None, view: str | None, timeout: float, retries: int
    ) -> Settings:
        url = re.sub(r"/mcp$", "", url.rstrip("/"))
        below = "".join(f"/{quote(part, safe='')}" for part in view.split("/")) if view else ""
        headers = {"Accept": "application/json", "X-MCP-Version": "1.0"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return cls(f"{url}/mcp{below}", headers, timeout, retries)


@dataclass(frozen=True)
class Outgoing:
    """A request."""

    method: str
    path: str
    #: True if a repeat does no harm although the first request may have arrived.
    repeatable: bool
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Sequence[tuple[str, str]] = ()
    timeout: float | None = None

    def build(self, client: httpx.Client | httpx.AsyncClient, settings: Settings) -> httpx.Request:
        return client.build_request(
            self.method,
            settings.base + self.path,
            json=self.body,
            headers={**settings.headers, **self.headers},
            params=list(self.params) or None,
            timeout=self.timeout or settings.timeout,
        )


def execution_request(
    name: str,
    params: JsonObject | None,
    *,
    timeout: float | None,
    priority: Priority | None,
    session_id: str | None,
    user_id: str | None,
    key: str | None,
    mode: str | None = None,
) -> Outgoing:
    """The request that executes a tool; ``timeout`` is in seconds."""
    context = {
        "timeout": None if timeout is None else max(1, round(timeout * 1000)),
        "priority": priority,
        "sessionId": session_id,
        "userId": user_id,
    }
    body: dict[str, Any] = {"params": dict(params or {})}
    if known := {name: value for name, value in context.items() if value is not None}:
        body["context"] = known
    if mode is not None:
        body["mode"] = mode
    headers = {} if key is None else {"Idempotency-Key": key}
    path = f"/tools/{quote(name, safe='')}/execute"
    return Outgoing("POST", path, repeatable=key is not None, body=body, headers=headers)


def random_key() -> str:
    return secrets.token_hex(16)


def answer_of(response: httpx.Response) -> Any:
    """The body of a successful answer that was read; raises the error of another."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not response.is_success:
        raise refusal(response, body)
    if body is None:
        raise TrunklineError("the answer is no JSON; is this a Trunkline server?", status=response.status_code)
    return body


def refusal(response: httpx.Response, body: Any) -> TrunklineError:
    wait = response.headers.get("retry-after", "")
    return error_of(body, response.status_code, float(wait) if wait.isdigit() else None)


def failure_of(error: httpx.HTTPError, outgoing: Outgoing) -> TrunklineError:
    what = f"{outgoing.method} {outgoing.path}"
    if isinstance(error, httpx.TimeoutException):
        return TimeoutExceeded(f"no answer to {what} in time: {error or type(error).__name__}")
    return ConnectionFailed(f"no answer to {what}: {error or type(error).__name__}")


def pause_after(error: TrunklineError, made: int, retries: int, repeatable: bool) -> float | None:
    """Seconds to wait before the next attempt; None if there is none."""
    # Without an answer the request may have arrived; with one, the server says what holds.
    may = repeatable if isinstance(error, ConnectionFailed) else error.retryable
    backoff = FIRST_PAUSE * 2**made * (0.5 + random.random() / 2)
    pause = max(error.retry_after or 0.0, backoff)
    return pause if may and made < retries and pause <= LONGEST_PAUSE else None


def execution_id_of(response: httpx.Response) -> str | None:
    found = re.search(r"/executions/([^/]+)$", response.headers.get("location", ""))
    return unquote(found[1]) if found else None


class EventReader:
    """Turns the lines of an event stream into events."""

    def __init__(self) -> None:
        self._fields: dict[str, list[str]] = {}

    def feed(self, line: str) -> Iterator[Event]:
        if line:
            name, _, value = line.partition(":")
            self._fields.setdefault(name, []).append(value[1:] if value.startswith(" ") else value)
            return
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return
        kind = fields.get("event", ["message"])[-1]
        data = json.loads("\n".join(fields["data"]))
        mark = fields["id"][-1] if "id" in fields else None
        if kind != "result":
            yield Event(kind, data, mark)
        elif data.get("success") is True:
            yield Event(kind, data, mark, ToolResult.parse(data))
        else:
            raise error_of(data)


def outcome_of(status: ExecutionStatus) -> ToolResult:
    """The result of an execution that has ended; raises its error."""
    if status.state == "done":
        return ToolResult.parse(status.raw)
    if status.state == "failed":
        raise error_of(status.raw)
    message = f"execution {status.id} was cancelled"
    if status.state == "unknown":
        message = f"the server died while execution {status.id} ran; it may or may not have had its effect"
    raise ExecutionError(message, details={"retryable": False, "state": status.state}, execution_id=status.id)


def tool_params(
    q: str | None, server: str | None, category: str | None, tags: Sequence[str]
) -> list[tuple[str, str]]:
    given = [("q", q), ("server", server), ("category", category)]
    return [(name, value) for name, value in given if value is not None] + [("tag", tag) for tag in tags]


def execution_params(states: Sequence[str], tool: str | None, everybody: bool) -> list[tuple[str, str]]:
    params = [("state", state) for state in states]
    if tool is not None:
        params.append(("tool", tool))
    return params + ([("all", "true")] if everybody else [])


def next_page(params: list[tuple[str, str]], body: JsonObject) -> list[tuple[str, str]] | None:
    """The parameters of the page after ``body``; None after the last one."""
    cursor = body.get("nextCursor")
    if cursor is None:
        return None
    if ("cursor", cursor) in params:
        raise TrunklineError("the server repeats a page of the list")
    return [pair for pair in params if pair[0] != "cursor"] + [("cursor", cursor)]
