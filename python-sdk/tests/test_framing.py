"""Frames: cut at LF alone, however the bytes come (FR-1)."""

from __future__ import annotations

import json
import math
import time
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quiesce import ProtocolError
from quiesce._framing import FrameReader, decode, encode

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=6,
)
MESSAGES = st.dictionaries(TEXT, VALUES, max_size=3)


@given(st.lists(MESSAGES, max_size=4), st.lists(st.integers(1, 40), min_size=1))
def test_messages_survive_any_cut(messages: list[dict[str, Any]], sizes: list[int]) -> None:
    rest = b"".join(map(encode, messages))
    reader, frames, cuts = FrameReader(), list[bytes](), cycle(sizes)
    while rest:
        size = next(cuts)
        frames += reader.feed(rest[:size])
        rest = rest[size:]
    assert [decode(frame) for frame in frames] == messages


@given(TEXT)
def test_a_frame_is_one_line(text: str) -> None:
    frame = encode({"text": text})
    assert frame.index(b"\n") == len(frame) - 1
    assert json.loads(frame) == {"text": text}


def test_only_lf_cuts_and_blank_lines_are_left_out() -> None:
    odd = "\u2028\u2029\u0085\u000b\u000c".encode()
    assert FrameReader().feed(b"\n" + odd + b"\n\n\r\n \t\r\n1\r\n\v\n2") == [odd, b"1\r", b"\v"]


@pytest.mark.parametrize("chunks", [[b"12345678\n", b"1234567890"], [b"1234567890", b"1\n"], [b"12345678901\n1\n"]])
def test_a_frame_over_the_limit_is_refused(chunks: list[bytes]) -> None:
    reader = FrameReader(limit=10)

    def feed() -> None:
        for chunk in [*chunks, b"1"]:
            reader.feed(chunk)

    with pytest.raises(ProtocolError, match="a frame of more than 10 bytes"):
        feed()


def test_a_frame_at_the_limit_is_taken() -> None:
    assert FrameReader(limit=10).feed(b"1234567890\n1234567890") == [b"1234567890"]


def test_a_frame_in_tiny_chunks_takes_linear_time() -> None:
    """Tenths of a second here; copying or searching what is there at every chunk would take minutes."""
    reader, chunk = FrameReader(), b"x" * 64
    started = time.monotonic()
    for _ in range(250_000):
        reader.feed(chunk)
    assert len(reader.feed(b"\n")[0]) == 16_000_000
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    "frame", [b"Debugger attached.", b"{", b"[1]", b"1", b"null", b'{"a":NaN}', b"\xff\xfe{}", b"\xed\xa0\x80"]
)
def test_what_is_no_object_is_a_protocol_error_that_shows_it(frame: bytes) -> None:
    with pytest.raises(ProtocolError, match="the runtime sent a line that is not") as raised:
        decode(frame)
    assert repr(frame.decode(errors="replace")) in str(raised.value)


def test_deep_nesting_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolError, match="is not JSON"):
        decode(b'{"a":' + b"[" * 200_000)


def test_half_a_surrogate_pair_is_kept_on_the_way_in() -> None:
    assert decode(b'{"\\ud83d":"a\\ud83db \\uD83D\\uDE00 \\\\ud83d"}') == {"\ud83d": "a\ud83db 😀 \\ud83d"}


def test_half_a_surrogate_pair_is_escaped_on_the_way_out() -> None:
    assert encode({"a": "\ud83d ä"}) == b'{"a":"\\ud83d \\u00e4"}\n'
    assert encode({"a": "ä"}) == '{"a":"ä"}\n'.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"a": value})
