"""Owns the driver that works through the Python SDK: `drive_sdk.py async` or `drive_sdk.py sync`."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from quiesce import AsyncQuiesce, Quiesce
from quiesce._framing import FrameReader, decode

QUESTION = "What is the answer?"
MODEL = "openai-compatible/instant"
PIECE = 65_536

Params = dict[str, Any]


async def repeat(count: int, work: Callable[[], Awaitable[object]]) -> list[float]:
    """How long each call takes, one after another, in milliseconds."""
    samples: list[float] = []
    for _ in range(count):
        begun = perf_counter()
        await work()
        samples.append((perf_counter() - begun) * 1000)
    return samples


def framing(params: Params) -> list[float]:
    """A frame that comes in pieces of 64 KiB, cut and parsed."""
    message = {"jsonrpc": "2.0", "method": "session.event", "params": {"text": "x" * params["bytes"]}}
    data = json.dumps(message).encode() + b"\n"
    samples: list[float] = []
    for _ in range(params["count"]):
        reader = FrameReader()
        begun = perf_counter()
        parsed = [decode(frame) for at in range(0, len(data), PIECE) for frame in reader.feed(data[at : at + PIECE])]
        samples.append((perf_counter() - begun) * 1000)
        if len(parsed[0]["params"]["text"]) != params["bytes"]:
            raise RuntimeError("the frame came out wrong")
    return samples


class AsyncDriver:
    """Each method is an operation."""

    quiesce: AsyncQuiesce | None = None

    async def open(self, params: Params) -> None:
        self.quiesce = await AsyncQuiesce.launch(runtime=params["runtime"], store=params["store"])

    async def close(self) -> None:
        if self.quiesce is not None:
            await self.quiesce.close()

    async def warm(self, params: Params) -> list[float]:
        session = await self.quiesce.sessions.create(model=params.get("model", MODEL), permissions="allow-all")
        await repeat(5, lambda: session.run(QUESTION))
        return await repeat(params["count"], lambda: session.run(QUESTION))

    async def burst(self, params: Params) -> list[float]:
        sessions = [await self.quiesce.sessions.create(model=MODEL) for _ in range(params["sessions"])]

        async def burst() -> None:
            await asyncio.gather(*(session.run(QUESTION) for session in sessions))

        await repeat(2, burst)
        return await repeat(params["count"], burst)

    async def history(self, params: Params) -> dict[str, float]:
        begun = perf_counter()
        session = await self.quiesce.sessions.get(params["sessionId"])
        seq = (await session.status()).seq
        async for event in session.events(after=0):
            if event.seq == seq:
                break
        return {"events": seq, "ms": (perf_counter() - begun) * 1000}

    async def framing(self, params: Params) -> list[float]:
        return framing(params)


async def serve() -> None:
    """Serves operations until stdin ends."""
    driver = AsyncDriver()
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while (line := await lines.get()) is not None:
        params = json.loads(line)
        try:
            reply({"value": await getattr(driver, params.pop("op"))(params)})
        except Exception:
            reply({"error": traceback.format_exc()})
    await driver.close()


def serve_sync() -> None:
    """The same with the synchronous face, which measures whole runs alone."""
    quiesce: Quiesce | None = None
    for line in sys.stdin:
        params = json.loads(line)
        try:
            if params["op"] == "open":
                quiesce = Quiesce.launch(runtime=params["runtime"], store=params["store"])
                reply({"value": None})
            elif quiesce is not None and params["op"] == "warm":
                reply({"value": warm(quiesce, params["count"])})
        except Exception:
            reply({"error": traceback.format_exc()})
    if quiesce is not None:
        quiesce.close()


def warm(quiesce: Quiesce, count: int) -> list[float]:
    """Whole runs in a session of their own."""
    session = quiesce.sessions.create(model=MODEL)
    samples: list[float] = []
    for _ in range(count + 5):
        begun = perf_counter()
        session.run(QUESTION)
        samples.append((perf_counter() - begun) * 1000)
    return samples[5:]


def reply(answer: object) -> None:
    """One line to the bench."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if sys.argv[1] == "sync":
    serve_sync()
else:
    asyncio.run(serve())
