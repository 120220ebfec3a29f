"""The client for programs without asyncio. Generated from ``_async.py``: do not edit."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any, Callable, Generator, Iterator, Sequence
from urllib.parse import quote

import httpx

from . import _core
from ._core import Outgoing, Settings
from .errors import ConnectionFailed, TimeoutExceeded, TrunklineError
from .types import Answer, Event, ExecutionStatus, JsonObject, Priority, Question, State, Tool, ToolResult

QuestionHandler = Callable[[Question], "Answer | None"]


class Client:
    """Calls the tools of a server. Use it as a context manager, or call ``close``."""

    def __init__(
        self,
        url: str = _core.DEFAULT_URL,
        *,
        key: str | None = None,
        view: str | None = None,
        timeout: float = _core.DEFAULT_TIMEOUT,
        retries: int = 2,
        http: httpx.Client | None = None,
    ) -> None:
        """``view`` limits the tools to a view (``team``) or a server (``server/git``).

        ``timeout`` is the number of seconds without a sign of life, ``retries`` the number of
        further attempts after a failure that allows them.
        """
        self._settings = Settings.of(url, key, view, timeout, retries)
        self._http = http or httpx.Client(timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def discover_tools(
        self,
        *,
        q: str | None = None,
        server: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
    ) -> list[Tool]:
        """All tools that you may use and that fit the filter."""
        params = _core.tool_params(q, server, category, tags)
        return [Tool.parse(tool) for tool in self._pages("/tools", "tools", params)]

    def get_tool(self, name: str) -> Tool:
        """One tool."""
        return Tool.parse(self._json(Outgoing("GET", f"/tools/{quote(name, safe='')}", repeatable=True)))

    def execute_tool(
        self,
        name: str,
        params: JsonObject | None = None,
        *,
        timeout: float | None = None,
        priority: Priority | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        on_progress: Callable[[JsonObject], None] | None = None,
        on_partial: Callable[[Any], None] | None = None,
        on_message: Callable[[JsonObject], None] | None = None,
        on_question: QuestionHandler | None = None,
        idempotency_key: str | bool = True,
    ) -> ToolResult:
        """Runs a tool and returns its result; raises a ``TrunklineError`` if it fails.

        ``timeout`` is the number of seconds that the server gives the tool. ``idempotency_key``
        names the call, so that the server runs it once however often it is sent; with False a call
        that may have run is not repeated.
        """
        context: _core.Context = {
            "timeout": timeout,
            "priority": priority,
            "session_id": session_id,
            "user_id": user_id,
        }
        handlers = {"progress": on_progress, "partial": on_partial, "message": on_message}
        if self._key(idempotency_key) is None and not any([*handlers.values(), on_question]):
            request = _core.execution_request(name, params, key=None, **context)
            return ToolResult.parse(self._json(request))
        made = 0
        while True:
            # A repeat after a failure is a new call with a new key; the same key would return the
            # failure.
            events = self.stream_tool(
                name, params, on_question=on_question, idempotency_key=idempotency_key, **context
            )
            try:
                with closing(events):
                    for event in events:
                        if event.result is not None:
                            return event.result
                        if handler := handlers.get(event.type):
                            handler(event.data)
                raise ConnectionFailed("the stream ended before the result")
            except TrunklineError as error:
                self._pause(error, made, repeatable=False)
            made += 1

    def stream_tool(
        self,
        name: str,
        params: JsonObject | None = None,
        *,
        timeout: float | None = None,
        priority: Priority | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        on_question: QuestionHandler | None = None,
        idempotency_key: str | bool = True,
    ) -> Generator[Event, None, None]:
        """Runs a tool and returns its events; the last one has the result. Closing it cancels: use
        ``contextlib.closing`` if you leave it early."""
        key = self._key(idempotency_key)
        request = _core.execution_request(
            name, params, timeout=timeout, priority=priority, session_id=session_id, user_id=user_id, key=key
        )
        execution: Execution | None = None
        ended = False

        def opened(response: httpx.Response) -> None:
            nonlocal execution
            if (found := _core.execution_id_of(response)) is not None:
                execution = self.execution(found)

        def reopen(last: str | None) -> Outgoing:
            return request if execution is None or last is None else execution._events_request(last)

        try:
            for event in self._follow(reopen, opened, repeatable=key is not None):
                ended = event.result is not None
                if event.type == "question" and execution is not None:
                    execution._respond(Question.parse(event.data), on_question)
                yield event
        except TrunklineError as error:
            ended = error.execution_id is not None
            raise
        finally:
            # A named call goes on when its connection is closed.
            if not ended and execution is not None:
                execution._abandon()

    def start_tool(
        self,
        name: str,
        params: JsonObject | None = None,
        *,
        timeout: float | None = None,
        priority: Priority | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        idempotency_key: str | bool = True,
    ) -> Execution:
        """Starts a tool that goes on without this client."""
        request = _core.execution_request(
            name,
            params,
            timeout=timeout,
            priority=priority,
            session_id=session_id,
            user_id=user_id,
            key=self._key(idempotency_key),
            mode="async",
        )
        started = self._json(request)
        return self.execution(started["executionId"])

    def execution(self, id: str) -> Execution:
        """An execution that was started before."""
        return Execution(self, id)

    def list_executions(
        self, *, state: State | Sequence[State] = (), tool: str | None = None, everybody: bool = False
    ) -> list[ExecutionStatus]:
        """Your executions that run or whose results are kept; for operators those of everybody."""
        states = (state,) if isinstance(state, str) else state
        params = _core.execution_params(states, tool, everybody)
        return [ExecutionStatus.parse(one) for one in self._pages("/executions", "executions", params)]

    def _key(self, given: str | bool) -> str | None:
        if isinstance(given, str):
            return given
        return _core.random_key() if given and self._settings.retries > 0 else None

    def _pages(self, path: str, member: str, params: list[tuple[str, str]]) -> Iterator[JsonObject]:
        page: list[tuple[str, str]] | None = params
        while page is not None:
            body = self._json(Outgoing("GET", path, repeatable=True, params=page))
            for one in body[member]:
                yield one
            page = _core.next_page(page, body)

    def _json(self, outgoing: Outgoing) -> Any:
        made = 0
        while True:
            try:
                request = outgoing.build(self._http, self._settings)
                try:
                    return _core.answer_of(self._http.send(request))
                except httpx.HTTPError as error:
                    raise _core.failure_of(error, outgoing) from error
            except TrunklineError as error:
                self._pause(error, made, outgoing.repeatable)
            made += 1

    def _pause(self, error: TrunklineError, made: int, repeatable: bool) -> None:
        pause = _core.pause_after(error, made, self._settings.retries, repeatable)
        if pause is None:
            raise error
        time.sleep(pause)

    def _follow(
        self,
        reopen: Callable[[str | None], Outgoing],
        opened: Callable[[httpx.Response], None],
        *,
        repeatable: bool,
        after: str | None = None,
    ) -> Generator[Event, None, None]:
        """The events up to the result; a broken stream is opened again."""
        last, made = after, 0
        while True:
            outgoing = reopen(last)
            try:
                for event in self._events(outgoing, opened):
                    made, last = 0, event.id or last
                    yield event
                    if event.result is not None:
                        return
                raise ConnectionFailed("the stream ended before the result")
            except ConnectionFailed as error:
                self._pause(error, made, repeatable)
            made += 1

    def _events(self, outgoing: Outgoing, opened: Callable[[httpx.Response], None]) -> Generator[Event, None, None]:
        request = outgoing.build(self._http, self._settings)
        request.headers["Accept"] = _core.STREAM
        try:
            response = self._http.send(request, stream=True)
            with closing(response):
                if not response.is_success:
                    response.read()
                    _core.answer_of(response)
                opened(response)
                reader = _core.EventReader()
                for line in response.iter_lines():
                    for event in reader.feed(line):
                        yield event
        except httpx.HTTPError as error:
            raise _core.failure_of(error, outgoing) from error


class Execution:
    """A tool that runs on the server and outlives the request that started it."""

    def __init__(self, client: Client, id: str) -> None:
        self.id = id
        self._client = client
        self._path = f"/executions/{quote(id, safe='')}"

    def get(self) -> ExecutionStatus:
        """The execution as it is now."""
        return ExecutionStatus.parse(self._client._json(Outgoing("GET", self._path, repeatable=True)))

    def wait(
        self, timeout: float | None = None, *, on_question: QuestionHandler | None = None
    ) -> ToolResult:
        """The result; raises the tool's error if it failed. After ``timeout`` it goes on."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _core.WAIT if end is None else min(_core.WAIT, end - time.monotonic())
            if left <= 0:
                raise TimeoutExceeded(f"execution {self.id} has not ended within {timeout} s; it goes on")
            status = self._status_after(max(1, round(left)))
            if status.state == "waiting" and status.question is not None:
                self._respond(status.question, on_question)
            elif status.ended:
                return _core.outcome_of(status)

    def events(self, after: str | None = None) -> Generator[Event, None, None]:
        """The events, from the first one or after a known one. A broken stream is resumed."""
        return self._client._follow(self._events_request, lambda _: None, repeatable=True, after=after)

    def cancel(self) -> ExecutionStatus:
        """Cancels it; one that has ended stays as it is."""
        return ExecutionStatus.parse(self._client._json(Outgoing("DELETE", self._path, repeatable=True)))

    def answer(self, answer: Answer, *, question: str | None = None) -> None:
        """Answers the question that the tool asked."""
        # A second answer to the same question is refused, so a repeat would hide that the first
        # one arrived.
        body = answer.body(question)
        self._client._json(Outgoing("POST", f"{self._path}/answer", repeatable=False, body=body))

    def _status_after(self, seconds: int) -> ExecutionStatus:
        limit = self._client._settings.timeout + seconds
        request = Outgoing("GET", self._path, True, params=[("wait", str(seconds))], timeout=limit)
        return ExecutionStatus.parse(self._client._json(request))

    def _events_request(self, last: str | None) -> Outgoing:
        headers = {} if last is None else {"Last-Event-ID": last}
        return Outgoing("GET", f"{self._path}/events", repeatable=True, headers=headers)

    def _respond(self, question: Question, handler: QuestionHandler | None) -> None:
        answer = handler(question) if handler is not None else None
        self.answer(answer or Answer(action="decline"), question=question.id)

    def _abandon(self) -> None:
        request = Outgoing("DELETE", self._path, repeatable=False, timeout=_core.ABANDON)
        try:
            self._client._json(request)
        except TrunklineError:
            pass
