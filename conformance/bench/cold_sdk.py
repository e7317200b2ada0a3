"""One prompt in new processes, by the Python SDK."""

import sys

from quiesce import Quiesce

with Quiesce.launch() as quiesce:
    session = quiesce.sessions.create(model="openai-compatible/instant")
    sys.stdout.write(session.run("What is the answer?").final_response + "\n")
