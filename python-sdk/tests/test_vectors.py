"""The generated models against the shared vectors: verdicts, places, and the way back."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from quiesce._generated import models
from quiesce._wire import MalformedValueError, UnknownKind, WireModel, decode, decode_with, encode

FOLDER = Path(__file__).parents[2] / "conformance" / "cases" / "wire"
VECTORS: list[dict[str, Any]] = [
    {"file": path.stem, **vector} for path in sorted(FOLDER.glob("*.json")) for vector in json.loads(path.read_bytes())
]
BY_NAME = {vector["name"]: vector for vector in VECTORS}
ADAPTERS: dict[str, TypeAdapter[Any]] = {}


def adapter(type_id: str) -> TypeAdapter[Any]:
    if type_id not in ADAPTERS:
        ADAPTERS[type_id] = TypeAdapter(getattr(models, type_id))
    return ADAPTERS[type_id]


def written(type_id: str, value: object) -> object:
    return adapter(type_id).dump_python(value, by_alias=True, exclude_unset=True)


def same(one: object, other: object) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        a, b = cast("dict[str, object]", one), cast("dict[str, object]", other)
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(one, list) and isinstance(other, list):
        x, y = cast("list[object]", one), cast("list[object]", other)
        return len(x) == len(y) and all(map(same, x, y))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def has_unknown(value: object) -> bool:
    if isinstance(value, UnknownKind):
        return True
    if isinstance(value, BaseModel):
        return any(has_unknown(getattr(value, name)) for name in type(value).model_fields)
    return isinstance(value, list) and any(map(has_unknown, cast("list[object]", value)))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['file']}: {vector['name']}")
def test_decodes_with_the_same_verdict_and_is_written_again_as_it_was(vector: dict[str, Any]) -> None:
    before = copy.deepcopy(vector["value"])
    if vector["verdict"] == "invalid":
        with pytest.raises(MalformedValueError) as raised:
            decode_with(adapter(vector["type"]), vector["value"])
        assert raised.value.path == vector["path"]
        assert raised.value.message == "required" or ", got " in raised.value.message
        return
    decoded = decode_with(adapter(vector["type"]), vector["value"])
    assert has_unknown(decoded) == (vector["verdict"] == "unknown")
    assert same(written(vector["type"], decoded), before)
    assert same(vector["value"], before)


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["type"] == "Fact"], ids=lambda vector: f"{vector['file']}: {vector['name']}"
)
def test_a_fact_is_decoded_by_its_type_as_the_union_decodes_it(vector: dict[str, Any]) -> None:
    if vector["verdict"] == "invalid":
        with pytest.raises(MalformedValueError) as raised:
            models.decode_fact(vector["value"])
        assert raised.value.path == vector["path"]
        return
    event = models.decode_fact(vector["value"])
    assert event == decode_with(adapter("Fact"), vector["value"])
    assert same(encode(event), vector["value"])


def test_there_are_enough_vectors() -> None:
    assert len(VECTORS) > 80


def test_an_unknown_fact_keeps_its_raw_data_beside_what_every_fact_has() -> None:
    value = BY_NAME["an unknown fact type"]["value"]
    event = models.decode_fact(value)
    assert isinstance(event, models.UnknownEvent)
    assert (event.type, event.original_type, event.session_id, event.seq) == ("unknown", "sandbox/snapshot", "s-1", 7)
    assert event.raw == value


def test_a_malformed_fact_is_a_fault_of_that_fact_alone() -> None:
    params = BY_NAME["session.event with a malformed fact"]["value"]
    with pytest.raises(MalformedValueError, match=r"^event\.data\.reason\.kind: required$"):
        decode(models.SessionEventParams, params)
    frame = decode(models.SessionEventFrame, params)
    assert frame.subscription_id == "u-1"
    with pytest.raises(MalformedValueError, match=r"^data\.reason\.kind: required$"):
        models.decode_fact(frame.event)


def test_a_page_with_a_malformed_fact_still_gives_the_others() -> None:
    page = decode(models.SessionEventsPage, BY_NAME["session/events with a malformed fact on the page"]["value"])
    assert models.decode_fact(page.events[0]).type == "tool/start"
    assert page.next_after == 7


def test_a_model_made_in_python_is_written_with_wire_names() -> None:
    block = models.TextBlock(type="text", text="hi")
    params = models.SessionPromptParams(session_id="s", content=[block], metadata={"team_id": None})
    assert encode(params) == {
        "sessionId": "s",
        "content": [{"type": "text", "text": "hi"}],
        "metadata": {"team_id": None},
    }


def test_a_snake_case_name_from_the_wire_is_no_field() -> None:
    with pytest.raises(MalformedValueError, match=r"^messageId: required$"):
        decode(models.SessionPromptResult, {"message_id": "m"})


MODELS = [model for model in vars(models).values() if isinstance(model, type) and issubclass(model, WireModel)]
OPTIONAL = [
    pytest.param(model, field.alias or name, id=f"{model.__name__}.{name}")
    for model in MODELS
    for name, field in model.model_fields.items()
    if not field.is_required() and Any not in (field.annotation, *get_args(field.annotation))
]


@pytest.mark.parametrize(("model", "name"), OPTIONAL)
def test_an_optional_field_may_be_absent_but_not_null(model: type[WireModel], name: str) -> None:
    with pytest.raises(ValidationError) as raised:
        model.model_validate({name: None})
    assert (name,) in [detail["loc"][:1] for detail in raised.value.errors()]
