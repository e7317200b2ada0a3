"""The quickstart with asyncio: the same names, awaited.

.venv/bin/python python-sdk/examples/quickstart_async.py
"""

import asyncio
import sys

from scratch import scratch

from quiesce import AsyncQuiesce


async def main() -> None:
    """Runs two prompts at the same time, in two sessions of one runtime."""
    with scratch({"notes.txt": "Buy milk\n", "plan.txt": "Bake a cake\n"}) as here:
        async with AsyncQuiesce.launch(cwd=here.workspace, store=here.store, model=here.model) as quiesce:

            async def ask(question: str) -> str:
                session = await quiesce.sessions.create(permissions="read-only")
                result = await session.run(question)
                print(f"{result.final_response} ({result.finish_reason})")
                return result.final_response

            answers = await asyncio.gather(ask("What does notes.txt say?"), ask("What does plan.txt say?"))
            if "" in answers:
                sys.exit("An answer is missing.")


asyncio.run(main())
