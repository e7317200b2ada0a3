"""Prompts in one process, and collects what came of it in another, which may be in another language: the store is what
they share.

prompt_here_collect_there.py                                  does both, with two runtimes
prompt_here_collect_there.py prompt [TEXT]                    prints {"sessionId", "messageId"}
prompt_here_collect_there.py collect SESSION_ID MESSAGE_ID    prints the RunResult, with the wire's names

The last two need QUIESCE_STORE, for example sqlite:shared.db. prompt-here-collect-there.mjs of the TypeScript SDK
takes the same words, so either can collect what the other one prompted.
"""

import json
import os
import sys
from pathlib import Path

from scratch import scratch

from quiesce import Quiesce, RunResult


def prompt(cwd: Path, store: str, model: str, text: str = "Say hello.") -> tuple[str, str]:
    """Only prompts: the receipt is in the store, and the runtime is closed at once, whatever the agent is doing."""
    with Quiesce.launch(cwd=cwd, store=store, model=model) as quiesce:
        session = quiesce.sessions.create(permissions="allow-all")
        return session.id, session.prompt(text).message_id


def collect(store: str, session_id: str, message_id: str) -> RunResult:
    """Collects by id: an open turn goes on first, and one that is over is read from the log."""
    with Quiesce.launch(store=store) as quiesce:
        return quiesce.sessions.get(session_id).collect(message_id)


with scratch() as here:
    if len(sys.argv) > 1 and not os.environ.get("QUIESCE_STORE"):
        print("Set QUIESCE_STORE to a store that both processes reach: sqlite:shared.db", file=sys.stderr)
        sys.exit(2)
    match sys.argv[1:]:
        case []:
            session_id, message_id = prompt(here.workspace, here.store, here.model)
            result = collect(here.store, session_id, message_id)
            assert result.message_id == message_id
            assert result.final_response != ""
            print(result.final_response)
        case ["prompt", *text]:
            session_id, message_id = prompt(Path.cwd(), here.store, here.model, *text[:1])
            print(json.dumps({"sessionId": session_id, "messageId": message_id}))
        case ["collect", session_id, message_id]:
            print(collect(here.store, session_id, message_id).model_dump_json(by_alias=True, exclude_unset=True))
        case _:
            print("usage: [prompt [TEXT] | collect SESSION_ID MESSAGE_ID]", file=sys.stderr)
            sys.exit(2)
