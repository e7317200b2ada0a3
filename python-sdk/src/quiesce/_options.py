"""Owns what an option may be: its kind, and the names inside it. Refuses with the option, the value and what would be
right.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from ._wire import WireModel


def text(name: str, value: object, such_as: str) -> None:
    """Raises TypeError or ValueError where the option is neither None nor a string that an environment can hold."""
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string such as {such_as!r}, not {value!r}")
    _check_holdable(name, value)


def path(name: str, value: object) -> str:
    """The path as a string. Raises TypeError or ValueError where it is none."""
    found: object = os.fspath(cast("os.PathLike[str]", value)) if isinstance(value, os.PathLike) else value
    if not isinstance(found, str):
        raise TypeError(f"{name} must be a path (a string or os.PathLike), not {value!r}")
    _check_holdable(name, found)
    return found


def environment(value: object) -> None:
    """Raises TypeError or ValueError where `env` isn't a dict of what an environment can hold."""
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise TypeError(f"env must be a dict of strings such as {{'NAME': 'value'}}, not {value!r}")
    for name, content in cast("Mapping[object, object]", value).items():
        if not isinstance(name, str) or not name or "=" in name:
            raise ValueError(f"env: a name must be a string without '=', not {name!r}")
        if content is None:
            continue
        if not isinstance(content, str):
            raise TypeError(f"env[{name!r}] must be a string, or None to take the variable away, not {content!r}")
        _check_holdable(f"env[{name!r}]", name)
        _check_holdable(f"env[{name!r}]", content)


def handler(name: str, value: object) -> None:
    """Raises TypeError where the option is neither None nor callable."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable, not {value!r}")


def items(name: str, value: Iterable[Any] | None) -> list[Any] | None:
    """A list where a lone string is a slip that nobody would notice. Raises TypeError."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list, not {value!r}; write [{value!r}]")
    return None if value is None else _listed(name, value)


def known(method: str, given: Mapping[str, object], model: WireModel) -> None:
    """Raises ValueError where a dict inside the options has a name that its model doesn't have.

    A model is left alone: one that a newer runtime sent may hold more, and goes back as it came.
    """
    for field, info in type(model).model_fields.items():
        for name in {field, info.alias or field} & given.keys():
            _known_inside(method, name, given[name], getattr(model, field))


def _known_inside(method: str, place: str, given: object, checked: object) -> None:
    if isinstance(given, Mapping) and isinstance(checked, WireModel):
        inside = cast("Mapping[str, object]", given)
        for name in checked.model_extra or {}:
            raise ValueError(f"{method}: {_fault(place, name, type(checked))}")
        for field, info in type(checked).model_fields.items():
            for name in {field, info.alias or field} & inside.keys():
                _known_inside(method, f"{place}.{name}", inside[name], getattr(checked, field))
    elif isinstance(given, Sequence) and isinstance(checked, list):
        pairs = zip(cast("Sequence[object]", given), cast("list[object]", checked), strict=True)
        for index, pair in enumerate(pairs):
            _known_inside(method, f"{place}[{index}]", *pair)


def _fault(place: str, name: str, model: type[WireModel]) -> str:
    aliases = {field: info.alias or field for field, info in model.model_fields.items()}
    if name in aliases:
        return f"{place}.{name} is given twice, also as {place}.{aliases[name]}"
    names = list(aliases) if name == name.lower() else list(aliases.values())
    nearest = get_close_matches(name, names, n=1)
    known_names = ", ".join(f"{place}.{each}" for each in names)
    advice = f"did you mean {place}.{nearest[0]}?" if nearest else f"known are {known_names}"
    return f"unknown option {place}.{name}; {advice}"


def _listed(name: str, value: object) -> list[Any]:
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list, not {value!r}")
    return list(cast("Iterable[Any]", value))


def _check_holdable(name: str, value: str) -> None:
    """Neither an environment nor a path holds NUL, or half of a surrogate pair."""
    try:
        fault = "NUL" if "\0" in value else None
        os.fsencode(value)
    except UnicodeEncodeError:
        fault = "half of a surrogate pair"
    if fault is not None:
        raise ValueError(f"{name} must not hold {fault}, as {value!a} does")
