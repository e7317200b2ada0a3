"""One of several scripts on one store: runs its prompts one after the other, and says what came as JSON lines.

Its task is its only argument, as JSON: {sessionId, create, cwd, prompts}.
"""

import json
import sys

from quiesce import Quiesce, QuiesceError


def say(what: dict[str, object]) -> None:
    print(json.dumps(what), flush=True)


task = json.loads(sys.argv[1])
with Quiesce.launch(cwd=task["cwd"]) as quiesce:
    if task["create"]:
        session = quiesce.sessions.create(session_id=task["sessionId"], permissions="allow-all")
    else:
        session = quiesce.sessions.get(task["sessionId"])
    say({"ready": session.id})
    for prompt in task["prompts"]:
        try:
            result = session.run(prompt)
        except QuiesceError as error:
            say({"prompt": prompt, "error": type(error).__name__, "message": str(error)})
        else:
            events = [event.model_dump(mode="json", by_alias=True, exclude_none=True) for event in result.events]
            say({"prompt": prompt, "messageId": result.message_id, "finalResponse": result.final_response, "events": events})
