"""Owns how a caller says a length of time: seconds as a number, or a timedelta."""

from __future__ import annotations

import math
from datetime import timedelta

Duration = float | timedelta
"""A length of time: seconds as an int or float, or a `datetime.timedelta`. It must be positive and finite."""


def seconds(name: str, value: object) -> float | None:
    """The Duration in seconds, None for None.

    Raises TypeError or ValueError, which name the option and what would be right.
    """
    if value is None:
        return None
    if isinstance(value, timedelta):
        number = value.total_seconds()
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be seconds (a number) or a timedelta, not {value!r}")
    else:
        number = _float(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, or None for no limit; got {value!r}")
    return number


def _float(name: str, value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        said = "got an integer that no float can hold"
        raise ValueError(f"{name} must be positive and finite, or None for no limit; {said}") from None
