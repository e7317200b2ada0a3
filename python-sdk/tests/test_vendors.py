"""The SDK against the real runtime, and that against a server of each vendor: the vectors that both SDKs share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from conftest import Watched
from quiesce import AsyncQuiesce, AsyncSession, Delta, ModelRetry, RpcError, RunResult, StepStart
from vendors import RUNTIME, ModelServer, filled_in, launch, model_server, vectors

VENDORS = {name: vectors(name) for name in ("chat", "anthropic", "responses")}
SWITCH = vectors("switch")
CASES = [
    pytest.param((vendor, way), case, id=f"{vendor}, by {chosen['name']}: {case['name']}")
    for vendor, of in VENDORS.items()
    for way, chosen in enumerate(of["ways"])
    for case in of["cases"]
    if way == 0 or case.get("everyWay", False)
]


@dataclass
class Reached:
    """A runtime that reaches a vendor's server in one of the ways."""

    quiesce: AsyncQuiesce
    server: ModelServer
    key: str
    key_header: tuple[str, str]


class Reaching:
    """Every way to a vendor's server, each with a runtime that is started when it is first needed."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._reached: dict[tuple[str, int], Reached] = {}
        self.stderr: list[str] = []
        self.runtimes: list[Watched] = []

    async def by(self, at: tuple[str, int]) -> Reached:
        if at not in self._reached:
            self._reached[at] = await self._reach(*at)
        return self._reached[at]

    async def _reach(self, vendor: str, way: int) -> Reached:
        of, folder = VENDORS[vendor], self._folder / f"{vendor}-{way}"
        folder.mkdir()
        self.runtimes.append(Watched(folder, "quiesce", f'exec {RUNTIME} "$@"'))
        server = await self._stack.enter_async_context(model_server(of["server"], []))
        places = {"apiKey": of["apiKey"], "baseURL": server.base_url, "origin": server.origin}
        chosen, header = filled_in(of["ways"][way], places), filled_in(of["keyHeader"], places)
        starting = launch(
            folder,
            chosen["model"],
            runtime=self.runtimes[-1].path,
            config={"retry": of["retry"], "models": chosen.get("models", {})},
            env=chosen["env"],
            on_stderr=self.stderr.append,
        )
        return Reached(await self._stack.enter_async_context(starting), server, of["apiKey"], (header[0], header[1]))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reaching(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Reaching]:
    async with AsyncExitStack() as stack:
        reaching = Reaching(tmp_path_factory.mktemp("vendors"), stack)
        yield reaching
    for runtime in reaching.runtimes:
        assert await asyncio.to_thread(runtime.is_gone)
        runtime.forget()
    assert not [of["apiKey"] for of in VENDORS.values() if of["apiKey"] in "\n".join(reaching.stderr)]


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


def facts_of(result: RunResult) -> list[dict[str, Any]]:
    return [event.model_dump(by_alias=True, exclude_unset=True) for event in result.events]


def kept_in(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("*") if path.is_file()]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("at", "case"), CASES)
async def test_case(reaching: Reaching, at: tuple[str, int], case: dict[str, Any], tmp_path: Path) -> None:
    reached = await reaching.by(at)
    quiesce, wanted = reached.quiesce, case["expect"]
    await reached.server.play(case["script"])
    session = await quiesce.sessions.create(
        cwd=tmp_path, permissions=case.get("permissions", "edit"), model_options=case.get("modelOptions")
    )
    result, text, deltas = await outcome(session, streamed=case.get("streamed", False))
    told = [result, *await session.messages(), await session.describe(), *await quiesce.models()]
    requests = await reached.server.requests()

    raw, facts = result.model_dump(by_alias=True, exclude_unset=True), facts_of(result)
    finishes = [data["finish"] for data in data_of(facts, "assistant/message")]
    reason = data_of(facts, "turn/end")[-1]["reason"]
    assert matches(reason, wanted["reason"]), reason
    assert result.finish_reason == wanted["reason"]["kind"]
    assert result.final_response == wanted["finalResponse"]
    assert matches(raw["usage"], wanted.get("usage", {})), raw["usage"]
    assert (finishes[-1] if finishes else None) == wanted["finish"]
    retries = data_of(facts, "model/retry")
    assert matches(retries, wanted.get("retries", [])), retries
    assert started_tools(facts) == wanted.get("tools", [])
    for path, content in wanted.get("files", {}).items():
        file = tmp_path / path
        assert (file.read_text() if file.exists() else None) == content
    if case.get("streamed", False):
        assert text == result.final_response

    name, value = reached.key_header
    assert [request["headers"].get(name) for request in requests] == [value] * len(case["script"])
    assert reached.key not in repr([told, [model.model_dump() for model in told], deltas, kept_in(tmp_path)])


async def test_another_vendor_goes_on_with_the_session_and_gets_the_reasoning_of_no_other(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with AsyncExitStack() as stack:
        servers: dict[str, ModelServer] = {}
        named: dict[str, Any] = {}
        for name, model in SWITCH["models"].items():
            servers[name] = await stack.enter_async_context(model_server(model["server"], SWITCH["servers"][name]))
            named[name] = {"provider": model["provider"], "baseURL": servers[name].base_url}
        quiesce = await stack.enter_async_context(launch(tmp_path, "scripted/demo", config={"models": named}))
        session = await quiesce.sessions.create(cwd=workspace)
        for turn in SWITCH["turns"]:
            await session.update(model=turn["model"], model_options=turn.get("modelOptions"))
            result = await session.run("Go on.")
            facts = facts_of(result)
            assert [data["reason"] for data in data_of(facts, "turn/end")] == [{"kind": "completed"}]
            assert result.final_response == turn["finalResponse"]
            assert {data["model"] for data in data_of(facts, "step/start")} == {turn["model"]}
        for name, server in servers.items():
            assert len(await server.requests()) == len(SWITCH["servers"][name])
    assert {path: (workspace / path).read_text() for path in SWITCH["files"]} == SWITCH["files"]


async def test_options_that_are_wrong_are_refused_with_their_path(tmp_path: Path) -> None:
    async with launch(tmp_path, "scripted/demo", config={}) as quiesce:
        create = quiesce.sessions.create
        with pytest.raises(RpcError, match=r"modelOptions\.temperature: expected a number from 0 to 2, got 2\.5"):
            await create(cwd=tmp_path, model_options={"temperature": 2.5})
        with pytest.raises(ValueError, match=r"unknown option model_options\.top_p; "):
            await create(cwd=tmp_path, model_options={"top_p": 1})
        session = await create(cwd=tmp_path)
        with pytest.raises(RpcError, match=r"modelOptions\.stop: .*none of them empty"):
            await session.update(model_options={"stop": [""]})
        with pytest.raises(RpcError, match='"nobody" is no provider'):
            await session.update(model="nobody/x")
        await session.update(model_options={"temperature": 2})
