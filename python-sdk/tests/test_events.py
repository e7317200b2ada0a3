"""Facts as callers see them: whose they are says the frame around them."""

from __future__ import annotations

from typing import Any

import pytest

from quiesce import ProtocolError
from quiesce._events import decode_event

KNOWN: dict[str, Any] = {"seq": 1, "time": 5, "type": "tool/start", "data": {"callId": "c"}}
UNKNOWN: dict[str, Any] = {"seq": 1, "time": 5, "type": "sky/change", "data": {}}


@pytest.mark.parametrize("fact", [KNOWN, UNKNOWN])
@pytest.mark.parametrize("own", [{}, {"sessionId": "s-1"}, {"sessionId": "s-2"}])
def test_a_fact_is_its_frames_whatever_it_says_itself(fact: dict[str, Any], own: dict[str, Any]) -> None:
    assert decode_event("s-1", {**fact, **own}).session_id == "s-1"


@pytest.mark.parametrize("own", [{}, {"sessionId": "s-2"}])
def test_a_frame_of_no_session_is_a_fault(own: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match=r"is malformed: sessionId: .*pattern"):
        decode_event("no session", {**KNOWN, **own})
