"""Owns how what a caller gives becomes params: absent where it is None, wire names, data of the user untouched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from . import _wire
from ._generated.models import ContentBlock

ContentInput = str | Sequence[ContentBlock | Mapping[str, Any]]
"""What a message says: a string, or blocks, each a model such as `TextBlock` or a dict with the wire's names."""


def given(**fields: object) -> dict[str, Any]:
    """The fields that aren't None, by their own names."""
    return {name: value for name, value in fields.items() if value is not None}


def params(method: str, model: type[_wire.WireModel], fields: Mapping[str, object]) -> dict[str, Any]:
    """The fields as params; a nested dict may have Python's names or the wire's.

    Raises ValueError, which names the method, the place and what would be right.
    """
    try:
        return _wire.encode(model.model_validate(dict(fields), by_alias=True, by_name=True))
    except ValidationError as error:
        fault = _wire.malformed(error)
        raise ValueError(f"{method}: {fault}") from None


def content(value: ContentInput) -> str | list[Any]:
    """The content as it goes over the wire; the runtime checks it (IN-1)."""
    if isinstance(value, str):
        return value
    return [_wire.encode(block) if isinstance(block, _wire.WireModel) else dict(block) for block in value]
