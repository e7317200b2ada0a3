"""The reducer against the vectors that every language shares, and its rules as properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quiesce import QuiesceError, Until
from quiesce._collect import RunReducer
from quiesce._events import decode_event

VECTORS = sorted((Path(__file__).parents[2] / "conformance/cases/reducer").glob("*.json"))


def test_there_are_vectors() -> None:
    assert len(VECTORS) > 50


def load(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text()))


def reduce(case: dict[str, Any]) -> RunReducer:
    reducer = RunReducer(case["sessionId"], case["messageId"], case["until"], case.get("after"))
    for fact in case["facts"]:
        reducer.add(decode_event(fact["sessionId"], fact))
        if reducer.ended:
            break
    return reducer


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vector(path: Path) -> None:
    case = load(path)
    expected = case["expect"]
    if "error" in expected:
        with pytest.raises(QuiesceError) as raised:
            reduce(case)
        assert type(raised.value).__name__ == expected["error"]["class"]
        return
    reducer = reduce(case)
    assert reducer.ended is expected["done"]
    dumped = reducer.result().model_dump(by_alias=True, exclude_unset=True)
    reason = dumped.pop("finish_reason")
    assert dumped == expected["result" if reducer.ended else "partial"]
    if reducer.ended:
        assert reason == expected["finish_reason"]


USAGE = {"inputTokens": 1, "outputTokens": 2}
IDS = {"turnId": "t", "stepId": "st"}


def message(message_id: str, origin: str = "user") -> dict[str, Any]:
    return {"message": {"id": message_id, "delivery": "followup", "origin": {"kind": origin}, "content": []}}


KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "running": ("agent/status", {"status": "running", "activityId": "a"}),
    "idle": ("agent/status", {"status": "idle", "activityId": "a", "waitingOn": []}),
    "waits": ("agent/status", {"status": "idle", "activityId": "a", "waitingOn": [{"kind": "goal", "goalId": "g"}]}),
    "receipt": ("inbox/receipt", message("another")),
    "answer": (
        "assistant/message",
        {
            **IDS,
            "outputId": "o",
            "content": [{"type": "text", "text": "x"}],
            "model": "m",
            "finish": "stop",
            "usage": USAGE,
        },
    ),
    "step": ("step/end", {**IDS, "usage": USAGE}),
    "turn": ("turn/end", {"turnId": "t", "reason": {"kind": "completed"}, "usage": USAGE}),
    "new": ("weather/change", {}),
}


def fact(session: str, seq: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"sessionId": session, "seq": seq, "type": kind, "time": seq, "data": data}


@given(
    before=st.lists(st.sampled_from(sorted(KINDS)), max_size=5),
    after=st.lists(st.sampled_from(sorted(KINDS)), max_size=8),
    until=st.sampled_from(["idle", "quiescent"]),
    first=st.integers(1, 50),
    noise=st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.sampled_from(sorted(KINDS))), max_size=5),
)
def test_the_interval_is_what_lies_between(
    before: list[str], after: list[str], until: Until, first: int, noise: list[tuple[int, bool, str]]
) -> None:
    """Whatever comes, whatever is repeated, and whatever a child does meanwhile (RUN-2, RUN-3, RUN-7, RUN-12)."""
    kinds = [*before, "own", *after]
    table = {**KINDS, "own": ("inbox/receipt", message("mine"))}
    log = [fact("s", first + index, *table[kind]) for index, kind in enumerate(kinds)]
    ends = {"idle": {"idle", "waits"}, "quiescent": {"idle"}}[until]
    end = next((index for index, kind in enumerate(kinds) if index > len(before) and kind in ends), None)
    interval = log[len(before) :] if end is None else log[len(before) : end + 1]
    within = kinds[len(before) : len(before) + len(interval)]

    delivered = list(log)
    for place, repeats, kind in noise:
        at = place % (len(delivered) + 1)
        known = [event for event in delivered[:at] if event["sessionId"] == "s"]
        delivered.insert(at, known[0] if repeats and known else fact("child", place + 1, *KINDS[kind]))

    reducer = RunReducer("s", "mine", until)
    for event in delivered:
        reducer.add(decode_event(event["sessionId"], dict(event)))
    result = reducer.result()
    assert reducer.ended is (end is not None)
    assert [event.seq for event in result.events] == [event["seq"] for event in interval]
    assert result.usage.input_tokens == within.count("step")
    assert result.finish_reason == ("completed" if "turn" in within else None)
    assert result.final_response == ("x" if "answer" in within else "")
    idles = [kind for kind in within if kind in {"idle", "waits"}]
    assert len(result.waiting_on) == (1 if idles[-1:] == ["waits"] else 0)
    assert reducer.is_shared() is ("receipt" in within)
