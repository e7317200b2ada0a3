"""Has an agent fix a failing test, and believes the test, not the agent.

.venv/bin/python python-sdk/examples/fix_failing_test.py
"""

import subprocess
import sys
from pathlib import Path

from scratch import scratch

from quiesce import Quiesce, ToolCall

ADD = "def add(a, b):\n    return a - b\n"
TEST = """import unittest
from add import add


class AddTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)
"""


def test_status(directory: Path) -> int:
    """The exit status of the tests. -B: a bytecode file of the same second and size would hide the edit."""
    command = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(command, cwd=directory, stderr=subprocess.DEVNULL, check=False).returncode


with scratch({"add.py": ADD, "test_add.py": TEST}) as here:
    assert test_status(here.workspace) == 1, "the test must fail at first"

    with Quiesce.launch(cwd=here.workspace, store=here.store, model=here.model) as quiesce:
        # The agent may run commands and edit files without asking: for directories and machines that can bear it.
        session = quiesce.sessions.create(permissions="allow-all")
        result = session.run(
            "Fix the failing test: run python3 -B -m unittest, find the fault in add.py, and mend it there."
        )
        for event in result.events:
            if isinstance(event, ToolCall):
                print(f"[{event.data.name}] {event.data.input}")
        print(result.final_response)

    assert test_status(here.workspace) == 0, "the test must pass now"
    assert "return a + b" in (here.workspace / "add.py").read_text()
    print("The test failed before, and passes now.")
