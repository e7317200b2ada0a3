"""Both faces against the real runtime, on a store that fails (RE-6): what a caller is told, and when."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Watched
from quiesce import (
    AsyncQuiesce,
    AsyncSession,
    InboxReceipt,
    Quiesce,
    StorageUnavailableError,
    StoreVersionError,
    ToolStart,
)

FULL = "the disk is full: make room, then try again"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def launch(runtime: Watched, workspace: Path, store: Path) -> AsyncQuiesce:
    return AsyncQuiesce.launch(runtime=runtime.path, cwd=workspace, store=f"sqlite:{store}", model="scripted/demo")


def changed(store: Path, sql: str) -> None:
    """Changes the store behind everybody's back."""
    database = sqlite3.connect(store)
    database.executescript(sql)
    database.close()


def delete(store: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{store}{suffix}").unlink()


async def waiting(session: AsyncSession) -> asyncio.Task[object]:
    """A run whose tool waits for the file `go`; it is running when this returns."""
    run: asyncio.Task[object] = asyncio.create_task(session.run("Wait for the file go"))
    async with session.events(after=0) as events:
        async for event in events:
            if isinstance(event, ToolStart):
                break
    return run


async def test_a_newer_store_is_refused_at_the_launch(runtime: Watched, workspace: Path, tmp_path: Path) -> None:
    store = tmp_path / "newer.db"
    async with launch(runtime, workspace, store) as quiesce:
        await quiesce.sessions.create()
    changed(store, "PRAGMA user_version = 9")
    with pytest.raises(StoreVersionError) as raised:
        async with launch(runtime, workspace, store):
            pass
    said = f"the store {store} has version 9, and this runtime knows up to 1: update quiesce, or name another store"
    assert str(raised.value) == said
    assert (raised.value.code, raised.value.retryable) == ("store_version", False)
    assert raised.value.data == {
        "path": str(store),
        "found": 9,
        "known": 1,
        "code": "store_version",
        "retryable": False,
    }
    assert await asyncio.to_thread(runtime.is_gone)


def test_what_is_no_store_is_refused_at_the_launch(runtime: Watched, workspace: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(StorageUnavailableError, match="it is a directory: name a file, for example"),
        Quiesce.launch(runtime=runtime.path, cwd=workspace, store=f"sqlite:{tmp_path}", model="scripted/demo"),
    ):
        pass
    assert runtime.is_gone()


async def test_a_store_that_goes_away_in_a_run(runtime: Watched, workspace: Path, tmp_path: Path) -> None:
    store = tmp_path / "deleted.db"
    async with launch(runtime, workspace, store) as quiesce:
        session = await quiesce.sessions.create(permissions="allow-all")
        other = await quiesce.sessions.create()
        run = await waiting(session)
        collecting = asyncio.create_task(session.collect((await session.prompt("more")).message_id))
        delete(store)
        (workspace / "go").touch()
        for failed in (run, collecting, other.run("Say hello."), session.prompt("x")):
            with pytest.raises(StorageUnavailableError, match="was deleted while it was open") as raised:
                await failed
            assert (raised.value.code, raised.value.retryable) == ("storage_unavailable", True)


async def test_a_store_that_is_brought_up_in_a_run(runtime: Watched, workspace: Path, tmp_path: Path) -> None:
    store = tmp_path / "brought-up.db"
    async with launch(runtime, workspace, store) as quiesce:
        session = await quiesce.sessions.create(permissions="allow-all")
        run = await waiting(session)
        changed(store, "PRAGMA user_version = 2")
        (workspace / "go").touch()
        for failed in (run, session.prompt("x")):
            with pytest.raises(StoreVersionError, match="update quiesce, then start it anew"):
                await failed


def mount(disk: Path) -> bool:
    """A small file system; false where mounting isn't allowed."""
    command = ["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", str(disk)]
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def unmount(disk: Path) -> None:
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        mounted = mount(Path(folder))
        if mounted:
            unmount(Path(folder))
        return mounted


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    small = tmp_path / "disk"
    small.mkdir()
    assert mount(small)
    yield small
    unmount(small)


def fill(disk: Path) -> None:
    with (disk / "filler").open("ab", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(4096))


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
async def test_a_full_disk(runtime: Watched, workspace: Path, disk: Path) -> None:
    async with launch(runtime, workspace, disk / "store.db") as quiesce:
        session = await quiesce.sessions.create(permissions="allow-all")
        run = await waiting(session)
        await asyncio.to_thread(fill, disk)
        (workspace / "go").touch()
        with pytest.raises(StorageUnavailableError, match=FULL):
            await run
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match=FULL):
                await session.prompt("x" * 20_000, message_id="mine")
        (disk / "filler").unlink()
        for _ in range(2):
            assert (await session.prompt("x" * 20_000, message_id="mine")).message_id == "mine"
        result = await session.collect("mine")
        assert result.finish_reason == "completed"
        receipts: list[str] = []
        async with session.events(after=0) as events:
            async for event in events:
                if isinstance(event, InboxReceipt):
                    receipts.append(event.data.message.id)
                if event == result.events[-1]:
                    break
        assert receipts[1:] == ["mine"]
