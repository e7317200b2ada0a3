"""The SDK against the real runtime, and that against a server of chat completions: the vectors that both SDKs share."""

from __future__ import annotations

import asyncio
import json
import tempfile
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import Watched
from quiesce import AsyncQuiesce, AsyncSession, Delta, ModelRetry, RunResult, StepStart

SUITE = Path(__file__).parents[2] / "conformance"
VECTORS: dict[str, Any] = json.loads((SUITE / "vectors" / "chat" / "cases.json").read_bytes())
KEY: str = VECTORS["apiKey"]
CASES: list[dict[str, Any]] = VECTORS["cases"]


@asynccontextmanager
async def chat_server(script: list[dict[str, Any]]) -> AsyncGenerator[int]:
    """A server that plays the script; gives its port."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(script, file)
        file.flush()
        pipe = asyncio.subprocess.PIPE
        program = str(SUITE / "fixtures" / "chat-server.mjs")
        server = await asyncio.create_subprocess_exec("node", program, file.name, stdin=pipe, stdout=pipe)
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(await server.stdout.readline())
        finally:
            server.stdin.close()
            assert await server.wait() == 0


def asked(port: int) -> list[dict[str, Any]]:
    """The requests that the server read."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/requests") as answer:
        return json.load(answer)


async def outcome(session: AsyncSession, *, streamed: bool) -> tuple[RunResult, str, list[str]]:
    """The result; the text that was streamed since the last step or retry began; every delta."""
    if not streamed:
        return await session.run("Begin."), "", []
    text, deltas = "", list[str]()
    async with session.stream("Begin.") as run:
        async for item in run:
            if isinstance(item, Delta):
                text += item.text if item.kind == "text" else ""
                deltas.append(item.text)
            elif isinstance(item, (StepStart, ModelRetry)):
                text = ""
        return await run.result(), text, deltas


def matches(value: object, wanted: object) -> bool:
    """Whether the fields that are wanted are there; a list has as many items as are wanted."""
    if isinstance(wanted, dict) and isinstance(value, dict):
        fields, names = cast("dict[str, object]", value), cast("dict[str, object]", wanted)
        return all(matches(fields.get(name), inner) for name, inner in names.items())
    if isinstance(wanted, list) and isinstance(value, list):
        items, each = cast("list[object]", value), cast("list[object]", wanted)
        return len(items) == len(each) and all(map(matches, items, each))
    return value == wanted


def started_tools(facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tools that really ran, and whether each result is an error."""
    names = {data["callId"]: data["name"] for data in data_of(facts, "tool/call")}
    errors = {data["callId"]: data["isError"] for data in data_of(facts, "tool/result")}
    ids = [data["callId"] for data in data_of(facts, "tool/start")]
    return [{"name": names[call], "isError": errors[call]} for call in ids]


def data_of(facts: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [fact["data"] for fact in facts if fact["type"] == kind]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_case(case: dict[str, Any], runtime: Watched, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    wanted: dict[str, Any] = case["expect"]
    stderr: list[str] = []
    async with chat_server(case["script"]) as port:
        async with AsyncQuiesce.launch(
            runtime=runtime.path,
            store="memory:",
            log_level="debug",
            model="openai-compatible/vectors",
            env={"OPENAI_COMPATIBLE_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_COMPATIBLE_API_KEY": KEY},
            on_stderr=stderr.append,
        ) as quiesce:
            session = await quiesce.sessions.create(cwd=workspace, permissions=case.get("permissions", "edit"))
            result, text, deltas = await outcome(session, streamed=case.get("streamed", False))
            told = [result, *await session.messages(), await session.describe(), *await quiesce.models()]
        requests = await asyncio.to_thread(asked, port)

    raw = result.model_dump(by_alias=True, exclude_unset=True)
    facts: list[dict[str, Any]] = [event.model_dump(by_alias=True, exclude_unset=True) for event in result.events]
    finishes = [data["finish"] for data in data_of(facts, "assistant/message")]
    assert result.final_response == wanted["finalResponse"]
    assert matches(raw["usage"], wanted.get("usage", {}))
    assert (finishes[-1] if finishes else None) == wanted["finish"]
    assert matches(data_of(facts, "turn/end")[-1]["reason"], wanted["reason"])
    assert result.finish_reason == wanted["reason"]["kind"]
    assert matches(data_of(facts, "model/retry"), wanted.get("retries", []))
    assert started_tools(facts) == wanted.get("tools", [])
    for path, content in wanted.get("files", {}).items():
        file = workspace / path
        assert (file.read_text() if file.exists() else None) == content
    if case.get("streamed", False):
        assert text == result.final_response

    assert [request["headers"].get("authorization") for request in requests] == [f"Bearer {KEY}"] * len(case["script"])
    kept = [path.read_text() for path in workspace.rglob("*") if path.is_file()]
    assert KEY not in repr([told, [model.model_dump() for model in told], deltas, stderr, kept])
    assert await asyncio.to_thread(runtime.is_gone)
