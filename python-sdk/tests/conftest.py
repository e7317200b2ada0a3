"""What the tests share: runtimes that are scripted peers, and what such a peer was asked."""

from __future__ import annotations

import gc
import json
import os
import select
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quiesce import AsyncQuiesce
from quiesce._process import Grace
from quiesce._quiesce import LaunchOptions

PEERS = Path(__file__).with_name("peers.py")
RUNTIME = Path(__file__).parents[2] / "node_modules/.bin/quiesce"
QUICK = Grace(shutdown=0.3, stdin=0.2, term=0.2, kill=5.0, pipes=0.3)


class Watched:
    """A runtime that is known to be gone when its processes are: each holds one end of a pipe."""

    def __init__(self, folder: Path, name: str, command: str) -> None:
        self.path = folder / name
        alive = folder / f"{name}.alive"
        os.mkfifo(alive)
        self._alive = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
        self.path.write_text(f"#!/bin/sh\nexec 9>{shlex.quote(str(alive))}\n{command}\n")
        self.path.chmod(0o755)

    def is_gone(self, within: float = 20.0) -> bool:
        """Whether no process of it lives; waits for that so many seconds."""
        try:
            return os.read(self._alive, 1) == b""
        except BlockingIOError:  # it is open somewhere
            return select.select([self._alive], [], [], within)[0] != []

    def forget(self) -> None:
        os.close(self._alive)


class Scripted(Watched):
    """One scripted peer as a runtime."""

    def __init__(self, folder: Path, name: str) -> None:
        self.log = folder / f"{name}.log"
        command = shlex.join([sys.executable, "-S", "-E", str(PEERS), name])
        super().__init__(folder, name, f"PEER_LOG={shlex.quote(str(self.log))} exec {command}")

    def client(self, *, request_timeout: float | None = 20.0, grace: Grace = QUICK) -> AsyncQuiesce:
        """A client of it that is quick to lose patience at its end."""
        return AsyncQuiesce(LaunchOptions(self.path, None, None, None, None, None, None, request_timeout, grace))

    def asked(self, method: str | None = None) -> list[dict[str, Any]]:
        """The params of the requests that it read, of one method or of all."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line["params"] for line in lines if method in {None, line.get("method")}]

    def methods(self) -> list[str]:
        """The methods of the requests that it read."""
        return [json.loads(line).get("method", "(an answer)") for line in self.log.read_text().splitlines()]


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Callable[[str], Scripted]]:
    made: list[Scripted] = []

    def make(name: str) -> Scripted:
        made.append(Scripted(tmp_path, name))
        return made[-1]

    yield make
    for peer in made:
        peer.forget()


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Watched]:
    """The real one."""
    watched = Watched(tmp_path, "quiesce", f'exec {shlex.quote(str(RUNTIME))} "$@"')
    yield watched
    watched.forget()


@pytest.fixture(autouse=True)
def no_runtime_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test starts a runtime that it doesn't name."""
    monkeypatch.delenv("QUIESCE_RUNTIME", raising=False)


@pytest.fixture(autouse=True)
def no_noise(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No test leaves an error that asyncio found nobody to tell."""
    yield
    gc.collect()
    assert [record.getMessage() for record in caplog.get_records("call") if record.name == "asyncio"] == []
