"""Calls the tools of a Trunkline server over REST."""

from ._async import AsyncClient, AsyncExecution
from ._sync import Client, Execution
from .errors import (
    ConnectionFailed,
    ExecutionError,
    ExecutionNotFoundError,
    PermissionDenied,
    RateLimitError,
    TimeoutExceeded,
    ToolNotFoundError,
    TrunklineError,
    ValidationError,
)
from .types import Answer, Event, ExecutionStatus, Question, Tool, ToolResult

__all__ = [
    "Answer",
    "AsyncClient",
    "AsyncExecution",
    "Client",
    "ConnectionFailed",
    "Event",
    "Execution",
    "ExecutionError",
    "ExecutionNotFoundError",
    "ExecutionStatus",
    "PermissionDenied",
    "Question",
    "RateLimitError",
    "TimeoutExceeded",
    "Tool",
    "ToolNotFoundError",
    "ToolResult",
    "TrunklineError",
    "ValidationError",
]
