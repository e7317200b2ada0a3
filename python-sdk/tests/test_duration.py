"""How a caller says a length of time."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from quiesce._duration import seconds


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), (1, 1.0), (0.25, 0.25), (timedelta(minutes=2), 120.0), (timedelta(milliseconds=5), 0.005)],
)
def test_seconds(value: object, expected: float | None) -> None:
    assert seconds("timeout", value) == expected


@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan, timedelta(0), timedelta(seconds=-1)])
def test_a_limit_that_no_clock_keeps_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="timeout must be positive and finite, or None for no limit; got"):
        seconds("timeout", value)


@pytest.mark.parametrize("value", ["1s", True, [1]])
def test_another_type_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="timeout must be seconds"):
        seconds("timeout", value)
