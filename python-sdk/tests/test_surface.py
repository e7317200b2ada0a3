"""The public surface: frozen, documented, and the same for both faces."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import quiesce
from quiesce import RunResult, RunUsage, TokenUsage
from quiesce._generated import models

RAW = {"sessionId": "s-1", "seq": 1, "time": 1, "type": "tool/start", "data": {"callId": "c"}}

SDK = """
AbortOutcome AsyncEvents AsyncQuiesce AsyncRunStream AsyncSession AsyncSessions ConnectionClosedError ContentInput Delta
Duration Events FencedError FrameTooLargeError LimitExceededError MessageConflictError MessageNotFoundError
ModelAuthError OnAbort OnBusy OverloadedError ProtocolError Quiesce QuiesceError RequestTimeoutError
RevisionConflictError RpcError RunAbortedError RunResult RunStream RunTimeoutError RunUsage RuntimeNotFoundError
Session SessionBusyError
SessionDescription SessionEvent SessionExistsError SessionNotFoundError Sessions ShuttingDownError
StorageUnavailableError StoreVersionError StreamItem TokenUsage UnauthorizedError UnknownModelError
UnsupportedProtocolError Until __version__
"""

FACES = [
    (quiesce.AsyncQuiesce, quiesce.Quiesce, "close launch models ping sessions tools"),
    (quiesce.AsyncSessions, quiesce.Sessions, "create delete get list"),
    (
        quiesce.AsyncSession,
        quiesce.Session,
        "cancel collect describe events id inject messages prompt run status steer stream update withdraw",
    ),
    (quiesce.AsyncRunStream, quiesce.RunStream, "close message_id result"),
    (quiesce.AsyncEvents, quiesce.Events, "close"),
]
LIKE = {asynchronous: blocking for asynchronous, blocking, _ in FACES}


def public(kind: type) -> list[str]:
    return sorted(name for name in vars(kind) if not name.startswith("_"))


def test_what_is_exported() -> None:
    wire = {name for name in quiesce.__all__ if getattr(quiesce, name) is getattr(models, name, None)}
    assert set(quiesce.__all__) - wire == set(SDK.split())
    assert sorted(quiesce.__all__) == sorted(set(quiesce.__all__))


def test_every_fact_and_its_data_is_exported() -> None:
    union = typing.get_args(models.Fact)[0]
    kinds = [typing.get_args(member)[0] for member in typing.get_args(union)]
    assert len(kinds) > 20
    for kind in kinds:
        assert getattr(quiesce, kind.__name__) is kind
        if kind is not quiesce.UnknownEvent:
            assert getattr(quiesce, f"{kind.__name__}Data").__name__ == f"{kind.__name__}Data"


@pytest.mark.parametrize(("asynchronous", "blocking", "names"), FACES, ids=lambda value: getattr(value, "__name__", ""))
def test_both_faces_have_the_same_names(asynchronous: type, blocking: type, names: str) -> None:
    assert public(asynchronous) == names.split()
    assert public(blocking) == names.split()


def getter(value: object) -> Callable[..., object]:
    assert isinstance(value, property)
    assert value.fget is not None
    return value.fget


def hints(function: Any) -> dict[str, Any]:
    return typing.get_type_hints(function, include_extras=True)


@pytest.mark.parametrize(("asynchronous", "blocking", "names"), FACES, ids=lambda value: getattr(value, "__name__", ""))
def test_both_faces_have_the_same_signatures_and_words(asynchronous: type, blocking: type, names: str) -> None:
    for name in names.split():
        one, other = getattr(asynchronous, name), getattr(blocking, name)
        if isinstance(one, property):
            one, other = getter(one), getter(other)
        assert inspect.signature(one).parameters == inspect.signature(other).parameters, name
        wanted = {key: LIKE.get(hint, hint) for key, hint in hints(one).items()}
        assert hints(other) == wanted, name
        if name != "launch":
            assert inspect.getdoc(one) == inspect.getdoc(other), name


@pytest.mark.parametrize("name", sorted({*SDK.split()} - {"__version__"}))
def test_every_name_is_documented(name: str) -> None:
    value = getattr(quiesce, name)
    if not inspect.isclass(value):
        return  # an alias: its words stand in the source, below it
    assert value.__doc__, name
    for member in public(value):
        if not issubclass(value, BaseModel):
            assert inspect.getdoc(getattr(value, member)), f"{name}.{member}"


def test_run_result_has_exactly_these_keys() -> None:
    """No status, and no reason: neither is the message's (RUN-4, ST-8)."""
    assert list(RunResult.model_fields) == [
        "session_id", "message_id", "final_response", "final_message", "events", "usage", "waiting_on", "finish_reason",
    ]  # fmt: skip
    tokens = ["input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens"]
    assert list(TokenUsage.model_fields) == tokens
    assert list(RunUsage.model_fields) == [*tokens, "descendants"]
    assert public(RunResult) == ["model_config"]


def test_nothing_speaks_of_the_end_of_a_message() -> None:
    """ST-8: there is no session.finished, no completion handle, no status and no reason of a prompt."""
    for words in ("finished", "prompt_status", "prompt_reason", "completion"):
        found = [name for name in quiesce.__all__ if words in name.lower()]
        for one, other, _ in FACES:
            found += [name for name in public(one) + public(other) if words in name]
        assert found == []
    assert list(quiesce.SessionPromptResult.model_fields) == ["message_id"]


def test_results_are_frozen_and_come_back_from_json() -> None:
    result = RunResult(
        session_id="s-1",
        message_id="m-1",
        final_response="",
        final_message=None,
        events=[models.decode_fact(RAW)],
        usage=RunUsage(descendants=TokenUsage()),
        waiting_on=[],
        finish_reason=None,
    )
    with pytest.raises(ValueError, match="frozen"):
        result.__setattr__("final_response", "x")
    assert RunResult.model_validate_json(result.model_dump_json(by_alias=True, exclude_unset=True)) == result


def test_no_module_looks_for_the_turn_of_a_message() -> None:
    """ST-10: nothing derives a result from the turn that admitted a message."""
    sources = [path for path in Path(quiesce.__file__).parent.glob("*.py") if path.name != "__init__.py"]
    assert len(sources) > 20
    for path in sources:
        words = re.findall(r"InboxAdmitted|TurnStart|trigger|admitted", path.read_text().replace("was admitted", ""))
        assert words == [], path.name
