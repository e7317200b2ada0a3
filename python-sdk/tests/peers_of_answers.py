"""Owns the peers whose answers are wrong, and those whose process is."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

from peer_kit import LIMITS, Peer, peer
from peers_of_facts import right

ALIVE = 9
"""A descriptor that is open for as long as a process of this peer lives."""


# Whose answers are wrong.


@peer
def refuses_the_prompt(p: Peer) -> None:
    p.greet()
    p.subscribed()
    p.refuse(p.expect("session/prompt"), "session_busy", retryable=True, since=7)
    p.until_end()


@peer
def refuses_the_subscription(p: Peer) -> None:
    p.greet()
    p.refuse(p.expect("session/subscribe"), "message_not_found")
    p.serve()


@peer
def refuses_everything(p: Peer) -> None:
    """With the code that the request's `provider` names."""
    p.greet()
    while (request := p.read()) is not None:
        p.refuse(request, request["params"]["provider"])


@peer
def gives_another_id(p: Peer) -> None:
    p.greet()
    p.subscribed()
    p.answer(p.expect("session/prompt"), {"messageId": "another"})
    p.until_end()


@peer
def answers_malformed(p: Peer) -> None:
    p.greet()
    while (request := p.read()) is not None:
        p.answer(request, {"models": [{"model": 5}]})


@peer
def refuses_malformed(p: Peer) -> None:
    p.greet()
    while (request := p.read()) is not None:
        p.send({"id": request["id"], "error": {"message": "no code"}})


@peer
def answers_twice_and_late(p: Peer) -> None:
    p.greet()
    request = p.expect("model/list")
    p.held = both = bytearray()
    p.answer(request, {"models": []})
    p.answer(request, {"models": [{"model": 7}]})
    p.held = None
    p.write(both)
    p.answer(request, {"models": [{"model": 8}]})
    p.serve()


@peer
def answers_nobody(p: Peer) -> None:
    p.greet()
    p.expect("model/list")
    p.send({"id": 99, "result": {}})
    p.until_end()


@peer
def cannot_read(p: Peer) -> None:
    p.greet()
    p.expect("model/list")
    p.send({"id": None, "error": {"code": -32700, "message": "not JSON"}})
    p.until_end()


@peer
def asks_questions(p: Peer) -> None:
    """Sends a request, and serves on once it is refused."""
    p.greet()
    request = p.expect("model/list")
    p.send({"id": "q-1", "method": "client/favour", "params": {}})
    answer = p.read()
    code = -1 if answer is None else answer["error"]["code"]
    p.answer(request, {"models": [{"model": str(code), "provider": "p", "available": True}]})
    p.serve()


@peer
def sends_a_frame_over_the_limit(p: Peer) -> None:
    p.greet()
    request = p.expect("model/list")
    p.write(b'{"jsonrpc":"2.0","id":%d,"result":"' % request["id"])
    with contextlib.suppress(BrokenPipeError):
        for _ in range(40):
            p.write(b"x" * (1024 * 1024))
    p.until_end()


@peer
def prints_garbage(p: Peer) -> None:
    p.greet()
    p.expect("model/list")
    p.write(b"Debugger attached.\n")
    p.until_end()


@peer
def takes_small_frames(p: Peer) -> None:
    p.greet(limits={**LIMITS, "maxFrameBytes": 500})
    p.serve()


@peer
def closes_its_sessions(p: Peer) -> None:
    """Tells its subscribers that it shuts down before it answers."""
    p.greet()
    p.subscribed()
    shutdown = p.expect("shutdown")
    closed = {"subscriptionId": p.subscription, "sessionId": p.session, "reason": "shutdown"}
    p.send({"method": "session.closed", "params": closed})
    p.answer(shutdown, {})


@peer
def never_answers(p: Peer) -> None:
    p.greet()
    p.until_end()


@peer
def never_greets(p: Peer) -> None:
    p.until_end()


@peer
def speaks_version_2(p: Peer) -> None:
    request = p.expect("initialize")
    result = {"protocol": 2, "server": {"name": "peer", "version": "0"}, "limits": LIMITS}
    p.answer(request, {**result, "capabilities": {"methods": [], "deltas": True}})
    p.until_end()


# Whose process is wrong.


@peer
def exits_at_once(p: Peer) -> None:
    complain("the store is locked")
    sys.exit(3)


@peer
def dies_in_a_run(p: Peer) -> None:
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    p.facts(p.receipt(1, prompt["params"]["messageId"]))
    complain("out of memory\nwhat now")
    os.kill(os.getpid(), signal.SIGKILL)


@peer
def closes_stdout_and_stays(p: Peer) -> None:
    p.greet()
    p.expect("model/list")
    os.close(1)
    linger()


@peer
def ignores_every_hint(p: Peer) -> None:
    """Neither answers `shutdown`, nor ends with its stdin or SIGTERM; and has a child."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    start_child()
    p.greet()
    while p.read() is not None:
        pass
    linger()


@peer
def leaves_a_child(p: Peer) -> None:
    """Ends as it should, but leaves a child that holds its pipes open."""
    start_child()
    p.greet()
    p.serve()


@peer
def writes_to_stderr(p: Peer) -> None:
    complain("first\nsecond \u00e4\r\nthird")
    right(p)


def start_child() -> None:
    """A child that holds everything open, also what says that this peer lives."""
    subprocess.Popen([sys.executable, "-S", "-E", "-c", "import signal; signal.pause()"], pass_fds=[ALIVE])


def complain(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def linger() -> None:
    """Stays until it is killed."""
    while True:
        signal.pause()
