"""The objects that the server sends and takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Mapping

JsonObject = Mapping[str, Any]
Priority = Literal["low", "normal", "high"]
State = Literal["queued", "running", "waiting", "done", "failed", "cancelled", "unknown"]

#: States of an execution that has not ended.
OPEN_STATES = ("queued", "running", "waiting")


@dataclass(frozen=True)
class Tool:
    """A tool, as the server describes it."""

    name: str
    input_schema: JsonObject
    title: str | None = None
    description: str | None = None
    output_schema: JsonObject | None = None
    server: str | None = None
    version: str | None = None
    author: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    #: Everything that the server said about it.
    raw: JsonObject = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, raw: JsonObject) -> Tool:
        return cls(
            name=raw["name"],
            input_schema=raw.get("inputSchema", {}),
            title=raw.get("title"),
            description=raw.get("description"),
            output_schema=raw.get("outputSchema"),
            server=raw.get("server"),
            version=raw.get("version"),
            author=raw.get("author"),
            category=raw.get("category"),
            tags=tuple(raw.get("tags", ())),
            raw=raw,
        )


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool."""

    content: list[dict[str, Any]]
    structured_content: JsonObject | None
    execution_id: str
    #: Milliseconds.
    duration: int
    timestamp: str
    raw: JsonObject = field(repr=False)

    @property
    def text(self) -> str:
        """All text blocks, one per line."""
        return "\n".join(block.get("text", "") for block in self.content if block.get("type") == "text")

    @classmethod
    def parse(cls, body: JsonObject) -> ToolResult:
        result, metadata = body["result"], body.get("metadata", {})
        return cls(
            content=list(result.get("content", ())),
            structured_content=result.get("structuredContent"),
            execution_id=metadata.get("executionId", body.get("executionId", "")),
            duration=metadata.get("duration", 0),
            timestamp=metadata.get("timestamp", ""),
            raw=result,
        )


@dataclass(frozen=True)
class Question:
    """A question that a tool asks its caller."""

    id: str
    message: str
    #: JSON Schema of the answer's content.
    schema: JsonObject | None = None

    @classmethod
    def parse(cls, raw: JsonObject) -> Question:
        return cls(id=raw["id"], message=raw.get("message", ""), schema=raw.get("schema"))


@dataclass(frozen=True)
class Answer:
    """The answer to a question."""

    content: JsonObject | None = None
    action: Literal["accept", "decline", "cancel"] = "accept"

    def body(self, question: str | None) -> dict[str, Any]:
        body: dict[str, Any] = {"action": self.action}
        if self.content is not None:
            body["content"] = dict(self.content)
        if question is not None:
            body["question"] = question
        return body


@dataclass(frozen=True)
class ExecutionStatus:
    """An execution, as the server describes it."""

    id: str
    tool: str
    state: State
    question: Question | None
    #: Everything that the server said about it.
    raw: JsonObject = field(repr=False)

    @property
    def ended(self) -> bool:
        return self.state not in OPEN_STATES

    @classmethod
    def parse(cls, raw: JsonObject) -> ExecutionStatus:
        question = raw.get("question")
        return cls(
            id=raw["executionId"],
            tool=raw.get("tool", ""),
            state=raw["state"],
            question=Question.parse(question) if question else None,
            raw=raw,
        )


@dataclass(frozen=True)
class Event:
    """An event of a running tool; the last one has the type ``result``."""

    type: str
    data: Any
    #: After this id the stream can be resumed.
    id: str | None = None
    #: The result, in the event ``result``.
    result: ToolResult | None = None
