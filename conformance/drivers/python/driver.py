"""The driver of the Python SDK: does what each line of stdin says with the SDK's public surface, and answers in lines
of JSON.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from signal import Signals
from typing import Any

from pydantic import BaseModel

from quiesce import AsyncQuiesce, RunAbortedError

Args = dict[str, Any]

runtimes: dict[str, AsyncQuiesce] = {}
sessions: dict[str, Any] = {}
tasks: dict[int, asyncio.Task[None]] = {}

# Times are seconds in Python; the cases' are milliseconds.
TIMES = {"timeoutMs": "timeout", "inactivityTimeoutMs": "inactivity_timeout", "requestTimeoutMs": "request_timeout"}
DRIVERS_OWN = {"id", "op", "on", "as", "input"}


def say(line: Args) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def wire(value: object) -> Any:
    """As it would be on the wire: models by their aliases, what isn't set left out."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, list | tuple):
        return [wire(each) for each in value]
    return value


def options(args: Args) -> Args:
    given: Args = {}
    for name, value in args.items():
        if name in TIMES:
            given[TIMES[name]] = value / 1000
        elif name not in DRIVERS_OWN:
            given[snake(name)] = value
    return given


def runtime_of(args: Args) -> AsyncQuiesce:
    return runtimes[args.get("on", "quiesce")]


def session_of(args: Args) -> Any:
    return sessions[args.get("on", "session")]


async def hello(_: Args) -> Args:
    offered = [name for name in operations if name not in ("hello", "reset")]
    return {"protocol": 1, "name": "python", "version": version("quiesce"), "operations": offered}


async def reset(args: Args) -> Args:
    """Ends everything that a case left, and forgets it."""
    others = [task for number, task in tasks.items() if number != args["id"]]
    for task in others:
        task.cancel()
    left = list(runtimes.values())
    runtimes.clear()
    sessions.clear()
    await asyncio.gather(*(runtime.close() for runtime in left), *others, return_exceptions=True)
    return {}


async def launch(args: Args) -> Args:
    runtimes[args.get("as", "quiesce")] = await AsyncQuiesce.launch(on_stderr=lambda _: None, **options(args))
    return {}


async def close(args: Args) -> Args:
    await runtime_of(args).close()
    return {}


async def ping(args: Args) -> Args:
    await runtime_of(args).ping()
    return {}


async def create(args: Args) -> Args:
    sessions[args.get("as", "session")] = session = await runtime_of(args).sessions.create(**options(args))
    return {"sessionId": session.id}


async def get(args: Args) -> Args:
    sessions[args.get("as", "session")] = session = await runtime_of(args).sessions.get(args["sessionId"])
    return {"sessionId": session.id}


async def delete(args: Args) -> Args:
    given = options(args)
    await runtime_of(args).sessions.delete(given.pop("session_id"), **given)
    return {}


async def stream(args: Args) -> Any:
    run = session_of(args).stream(args["input"], **options(args))
    async for item in run:
        shown = wire(item)
        # A delta has a kind of its own: of what it is a piece.
        delta = type(item).__name__ == "SessionDeltaParams"
        shown = {**shown, "kind": "delta", "of": shown["kind"]} if delta else {"kind": "event", "event": shown}
        say({"id": args["id"], "item": shown})
    return await run.result()


async def collect(args: Args) -> Any:
    given = options(args)
    return await session_of(args).collect(given.pop("message_id"), **given)


async def withdraw(args: Args) -> Args:
    return {"withdrawn": await session_of(args).withdraw(args["messageId"])}


async def abort(args: Args) -> Args:
    task = tasks.get(args["target"])
    if task is not None:
        task.cancel()
    return {}


async def events(args: Args) -> Args:
    given = options(args)
    source = given.pop("from_", None) or given.pop("from", None)
    if source is not None:
        given["from_message"] = source["messageId"]
    async for event in session_of(args).events(**given):
        say({"id": args["id"], "item": wire(event)})
    return {}


operations: dict[str, Callable[[Args], Awaitable[Any]]] = {
    "hello": hello,
    "reset": reset,
    "launch": launch,
    "close": close,
    "ping": ping,
    "models": lambda args: runtime_of(args).models(**options(args)),
    "tools": lambda args: runtime_of(args).tools(**options(args)),
    "create": create,
    "get": get,
    "list": lambda args: runtime_of(args).sessions.list(**options(args)),
    "delete": delete,
    "run": lambda args: session_of(args).run(args["input"], **options(args)),
    "stream": stream,
    "collect": collect,
    "prompt": lambda args: session_of(args).prompt(args["input"], **options(args)),
    "steer": lambda args: session_of(args).steer(args["input"], **options(args)),
    "inject": lambda args: session_of(args).inject(args["input"], **options(args)),
    "withdraw": withdraw,
    "cancel": lambda args: session_of(args).cancel(**options(args)),
    "abort": abort,
    "events": events,
    "messages": lambda args: session_of(args).messages(),
    "status": lambda args: session_of(args).status(),
    "describe": lambda args: session_of(args).describe(),
    "update": lambda args: session_of(args).update(**options(args)),
}


def shown_error(error: BaseException) -> Args:
    """The error as a caller would branch on it, with what a run that was given up, or a runtime that is gone, left
    behind.
    """
    names = ("code", "retryable", "partial", "outcome", "path", "lastStatus", "lastEvent", "stderr")
    found = {name: wire(getattr(error, snake(name), None)) for name in names}
    exit_code = getattr(error, "exit_code", None)
    # A signal is a negative status in Python.
    found["exit"] = Signals(-exit_code).name if exit_code is not None and exit_code < 0 else exit_code
    return {
        "class": type(error).__name__,
        "message": str(error),
        **{name: value for name, value in found.items() if value is not None},
    }


async def answer(args: Args) -> None:
    try:
        said = {"result": wire(await operations[args["op"]](args))}
    except asyncio.CancelledError as cancelled:
        # An abort is a cancelled task in Python: its cause says what became of the run.
        cause = cancelled.__cause__
        said = {"error": shown_error(cause if isinstance(cause, RunAbortedError) else cancelled)}
    except Exception as error:
        said = {"error": shown_error(error)}
    tasks.pop(args["id"], None)
    say({"id": args["id"], **said})


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**28)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        args = json.loads(line)
        tasks[args["id"]] = asyncio.create_task(answer(args))
    await reset({"id": 0})


asyncio.run(main())
