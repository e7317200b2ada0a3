"""Talks to an agent that is at work: one run is told something new, another one is cancelled.

.venv/bin/python python-sdk/examples/steer_and_cancel.py
"""

import os

from scratch import scratch

from quiesce import Quiesce, ToolStart

with scratch() as here, Quiesce.launch(cwd=here.workspace, store=here.store, model=here.model) as quiesce:
    # A named pipe: reading it waits until the command has written the id of its process.
    go, pid = here.workspace / "go", here.workspace / "pid"
    os.mkfifo(pid)
    prompt = "Run `echo $$ > pid; until [ -e go ]; do sleep 0.05; done` in the shell, and tell me how it ended."
    session = quiesce.sessions.create(permissions="allow-all")  # commands run without asking

    steered = session.stream(prompt)
    assert any(isinstance(item, ToolStart) for item in steered), "the agent ran no command"
    pid.read_text()
    session.steer("Have the word PELICAN in your answer.")  # joins the work under way, at its next step
    go.touch()
    result = steered.result()
    print(result.final_response)
    assert "PELICAN" in result.final_response
    assert result.finish_reason == "completed"

    go.unlink()
    cancelled = session.stream(prompt)
    assert any(isinstance(item, ToolStart) for item in cancelled), "the agent ran no command"
    shell = int(pid.read_text())
    os.kill(shell, 0)  # signal 0 only asks: no exception, so the process is there
    session.cancel()

    # The run ends as any other, and says that its turn was cancelled; the command is gone with it.
    assert cancelled.result().finish_reason == "cancelled"
    try:
        os.kill(shell, 0)
    except ProcessLookupError:
        print(f"Cancelled: process {shell} is gone.")
    else:
        raise AssertionError(f"process {shell} is still there")
