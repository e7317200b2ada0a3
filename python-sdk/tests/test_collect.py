"""The reducer against the vectors that every language shares, and its rules as properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from quiesce import QuiesceError
from quiesce._collect import RunReducer
from quiesce._events import decode_event

VECTORS = sorted((Path(__file__).parents[2] / "conformance/vectors/reducer").glob("*.json"))


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
