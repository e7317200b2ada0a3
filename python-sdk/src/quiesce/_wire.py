"""Owns how wire values become models and go back: strict, keeping what this version doesn't know (FR-4).

Refuses malformed known kinds with their path. Never renames data of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import CoreSchema

from ._shown import shown

Model = TypeVar("Model", bound="WireModel")
Value = TypeVar("Value")

UNKNOWN = "<unknown>"
"""Label of the branch of an open union that takes every kind that isn't known."""


class MalformedValueError(ValueError):
    """A value that isn't what the protocol says: ``path`` tells where, ``message`` what would be right."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


class WireModel(BaseModel):
    """Base of every object on the wire. Fields that this version doesn't know are kept, and written again."""

    model_config = ConfigDict(
        strict=True, extra="allow", validate_by_name=True, validate_by_alias=True, defer_build=True
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _refuse_null(schema)
        return schema


class UnknownKind(WireModel):
    """A member of an open union whose kind this version doesn't know: kept as it came, and written again as it is."""

    model_config = ConfigDict(extra="ignore")

    _raw: dict[str, Any] = PrivateAttr(default_factory=dict[str, Any])

    @property
    def raw(self) -> dict[str, Any]:
        """The value as it came."""
        return self._raw

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        unknown = handler(value)
        if isinstance(value, dict):
            unknown._raw = value
        return unknown

    @model_serializer(mode="plain")
    def _write(self) -> dict[str, Any]:
        return self._raw


def by_tag(tag: str, kinds: frozenset[str]) -> Callable[[object], str]:
    """A discriminator that sends known kinds to their model, and everything else to the unknown branch."""

    def label(value: object) -> str:
        if isinstance(value, UnknownKind):
            return UNKNOWN
        kind = cast("dict[object, object]", value).get(tag) if isinstance(value, dict) else getattr(value, tag, None)
        return f"<{kind}>" if isinstance(kind, str) and kind in kinds else UNKNOWN

    return label


def decode(model: type[Model], value: object) -> Model:
    """The value as ``model``; raises MalformedValueError."""
    try:
        return model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise malformed(error) from None


def decode_with(adapter: TypeAdapter[Value], value: object) -> Value:
    """The value as the adapter's type; raises MalformedValueError."""
    try:
        return adapter.validate_python(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise malformed(error) from None


def encode(model: WireModel) -> dict[str, Any]:
    """The model as it goes over the wire: wire names, nothing that wasn't given, unknown kinds as they came."""
    return model.model_dump(by_alias=True, exclude_unset=True)


def malformed(error: ValidationError) -> MalformedValueError:
    """Of alternatives that all refuse, the one that got furthest speaks."""
    faults = [(_path(detail), detail) for detail in error.errors(include_url=False)]
    path = max((path for path, _ in faults), key=len)
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    there = [detail for at, detail in faults if at == path]
    if there[0]["type"] == "missing":
        return MalformedValueError(text, "required")
    messages = dict.fromkeys(detail["msg"] for detail in there)
    return MalformedValueError(text, f"{'; or '.join(messages)}, got {shown(there[0]['input'], 60)}")


def _path(detail: ErrorDetails) -> list[int | str]:
    """The location without the labels of union branches."""
    return [
        part for part in detail["loc"] if not (isinstance(part, str) and part.startswith("<") and part.endswith(">"))
    ]


def _refuse_null(schema: Mapping[str, Any]) -> None:
    """An optional field may be absent, not null: `None` stands for absent in Python alone."""
    inner: Any = schema
    while inner["type"] != "model-fields":
        if "schema" not in inner:
            return
        inner = inner["schema"]
    for field in inner["fields"].values():
        default = field["schema"]
        if default["type"] == "default" and default["schema"]["type"] == "nullable":
            default["schema"] = default["schema"]["schema"]
