"""Shows an answer while it is being written, and what the agent does meanwhile.

.venv/bin/python python-sdk/examples/streaming.py
"""

from collections import defaultdict

from scratch import scratch

from quiesce import Delta, Quiesce, ToolCall

with scratch() as here, Quiesce.launch(cwd=here.workspace, store=here.store, model=here.model) as quiesce:
    # `edit` lets the agent write files in the workspace without asking.
    session = quiesce.sessions.create(permissions="edit")
    run = session.stream("Write a haiku about logs to haiku.txt, then tell me the haiku.")

    # Deltas are pieces of text on their way; everything else is a fact that the session's log keeps.
    text_of_step: defaultdict[str, str] = defaultdict(str)
    for item in run:
        match item:
            case Delta(kind="text"):
                print(item.text, end="", flush=True)
                text_of_step[item.step_id] += item.text
            case ToolCall():
                print(f"[{item.data.name}]")
            case _:
                pass

    # The same that run() gives. Its text is what the deltas of the last step were, joined.
    result = run.result()
    print(f"\n[{len(result.events)} facts, {result.usage.output_tokens} tokens written]")
    assert result.final_message is not None, "the agent said nothing"
    assert text_of_step[result.final_message.step_id] == result.final_response

    # What an agent says it did, and what it did, are two things: look at the file.
    assert (here.workspace / "haiku.txt").read_text().strip() != ""
