"""Owns how what a caller gives becomes params: absent where it is None, wire names, data of the user untouched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from . import _wire
from ._generated.models import ContentBlock
from ._options import known

ContentInput = str | Sequence[ContentBlock | Mapping[str, Any]]
"""What a message says: a string, or blocks, each a model such as `TextBlock` or a dict with the wire's names."""


def given(**fields: object) -> dict[str, Any]:
    """The fields that aren't None, by their own names; a mapping as a dict, which is what JSON knows."""
    present = {name: value for name, value in fields.items() if value is not None}
    return {
        name: dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
        for name, value in present.items()
    }


def one_of(name: str, value: str, *known: str) -> None:
    """Raises ValueError where an option is none of its words."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")


def params(method: str, model: type[_wire.WireModel], fields: Mapping[str, object]) -> dict[str, Any]:
    """The fields as params; a nested dict may have Python's names or the wire's.

    Raises ValueError, which names the method, the place and what would be right.
    """
    try:
        checked = model.model_validate(dict(fields), by_alias=True, by_name=True)
    except ValidationError as error:
        fault = _wire.malformed(error)
        raise ValueError(f"{method}: {fault}") from None
    known(method, fields, checked)
    return _wire.encode(checked)


def content(value: ContentInput) -> str | list[Any]:
    """The content as it goes over the wire; the runtime checks its blocks. Raises TypeError where it has none."""
    if isinstance(value, str):
        return value
    _check_blocks(value)
    return [_wire.encode(block) if isinstance(block, _wire.WireModel) else dict(block) for block in value]


def _check_blocks(value: object) -> None:
    if isinstance(value, (bytes, bytearray)) or not isinstance(value, Sequence):
        raise TypeError(f"a prompt must be a string or a list of blocks, not {value!r}")
    for index, block in enumerate(cast("Sequence[object]", value)):
        if not isinstance(block, (_wire.WireModel, Mapping)):
            raise TypeError(f"block {index} of a prompt must be a dict or a model such as TextBlock, not {block!r}")
