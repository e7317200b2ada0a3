"""The smallest whole thing: start a runtime, create a session, run a prompt, print the answer.

.venv/bin/python python-sdk/examples/quickstart.py
"""

import sys

from scratch import scratch

from quiesce import Quiesce, TurnEnd

# Launching starts the runtime, a process of its own; it ends with the `with` block.
with (
    scratch({"notes.txt": "Buy milk\n"}) as here,
    Quiesce.launch(cwd=here.workspace, store=here.store, model=here.model) as quiesce,
):
    # A session is one durable conversation. `read-only` lets the agent look at files, and change nothing.
    session = quiesce.sessions.create(permissions="read-only")

    # run() prompts, and returns when the agent is idle again.
    result = session.run("What does notes.txt say?")
    print(result.final_response)

    # How the last turn ended. A model that fails is no exception: `finish_reason` and `events` tell.
    print(f"({result.finish_reason})")
    if result.final_response == "":
        ends = [event.data.reason for event in result.events if isinstance(event, TurnEnd)]
        sys.exit(f"There is no answer. The last turn ended so: {ends[-1:]}")
