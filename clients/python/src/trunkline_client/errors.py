"""Errors: one class per code of the server, and one for connections."""

from __future__ import annotations

from typing import Any, Mapping


class TrunklineError(Exception):
    """A failed request or tool."""

    code = "UNEXPECTED_ANSWER"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        execution_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        #: HTTP status; None if the error came in an event stream or there was no answer.
        self.status = status
        #: ``field``, ``reason``, ``provided``, ``errorCode``, ``suggestedAction`` and others.
        self.details: Mapping[str, Any] = details or {}
        #: Seconds to wait before the next attempt.
        self.retry_after = retry_after if retry_after is not None else self.details.get("retryAfter")
        #: True if the same call may succeed later, and repeating it does no harm.
        self.retryable: bool = bool(self.details.get("retryable", self.retry_after is not None))
        #: The execution that failed, if one was started.
        self.execution_id = execution_id


class ToolNotFoundError(TrunklineError):
    """There is no such tool, or you may not use it."""

    code = "TOOL_NOT_FOUND"


class ExecutionNotFoundError(TrunklineError):
    """There is no such execution, or it is not yours."""

    code = "EXECUTION_NOT_FOUND"


class ValidationError(TrunklineError):
    """The request or the arguments are not as they must be."""

    code = "VALIDATION_ERROR"


class ExecutionError(TrunklineError):
    """The tool or its server failed."""

    code = "EXECUTION_ERROR"


class TimeoutExceeded(TrunklineError):
    """A time limit passed: in the queue, in the tool, or while this client waited."""

    code = "TIMEOUT_ERROR"


class PermissionDenied(TrunklineError):
    """Credentials are missing or do not suffice."""

    code = "PERMISSION_ERROR"


class RateLimitError(TrunklineError):
    """Too many requests; ``retry_after`` says when to try again."""

    code = "RATE_LIMIT_ERROR"


class ConnectionFailed(TrunklineError):
    """There was no answer, or not all of it. A call may have run."""

    code = "CONNECTION_ERROR"


_CLASSES: dict[str, type[TrunklineError]] = {
    known.code: known
    for known in (
        ToolNotFoundError,
        ExecutionNotFoundError,
        ValidationError,
        ExecutionError,
        TimeoutExceeded,
        PermissionDenied,
        RateLimitError,
    )
}


def error_of(body: Any, status: int | None = None, retry_after: float | None = None) -> TrunklineError:
    """The error in a body ``{"success": false, "error": {…}}``; else one by its status."""
    body = body if isinstance(body, dict) else {}
    error = body.get("error") or {}
    code = error.get("code") or _code_of(status)
    message = error.get("message") or f"the server answered {status} without an explanation"
    return _CLASSES.get(code, TrunklineError)(
        message,
        code=code,
        status=status,
        details=error.get("details"),
        retry_after=retry_after,
        execution_id=(body.get("metadata") or {}).get("executionId"),
    )


def _code_of(status: int | None) -> str:
    """The code of an answer that does not come from Trunkline, such as a proxy's."""
    known = {
        401: "PERMISSION_ERROR",
        403: "PERMISSION_ERROR",
        404: "TOOL_NOT_FOUND",
        429: "RATE_LIMIT_ERROR",
        504: "TIMEOUT_ERROR",
    }
    server = status is None or status >= 500
    return known.get(status or 0, "EXECUTION_ERROR" if server else "VALIDATION_ERROR")
