"""The real binary in front of a test server."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
ECHO = REPOSITORY / "crates/trunkline/tests/gateway/echo_server.py"


@dataclass(frozen=True)
class Server:
    url: str
    key: str
    folder: Path


@contextmanager
def serve(folder: Path, **more: Any) -> Iterator[Server]:
    """A running server with the tools of the echo server, and a key for it."""
    key = f"tl_{secrets.token_urlsafe(32)}"
    entry = {"id": "tester", "sha256": hashlib.sha256(key.encode()).hexdigest()}
    write(folder / "keys.json", {"keys": [entry]})
    command = ["python3", str(ECHO), "modern", "echo", "fail", "exit"]
    config = {
        **more,
        "mcp": {"servers": {"echo": {"command": command}}},
        "auth": {"keys": str(folder / "keys.json")},
        "audit": {"enabled": False},
    }
    write(folder / "trunkline.json", config)
    arguments = ["serve", "--json", "--listen", "127.0.0.1:0", "--config", str(folder / "trunkline.json")]
    program = subprocess.Popen(
        [os.environ["TRUNKLINE_BINARY"], *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        stdout=subprocess.PIPE,
    )
    try:
        assert program.stdout is not None
        endpoint = json.loads(program.stdout.readline())["endpoint"]
        yield Server(endpoint.removesuffix("/mcp"), key, folder)
    finally:
        program.send_signal(signal.SIGINT)
        program.send_signal(signal.SIGINT)
        program.wait(60)


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))
    path.chmod(0o600)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("server")) as running:
        yield running
