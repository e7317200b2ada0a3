"""What the vectors of vendors are made of: servers of their formats, and a runtime with the user's configuration."""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import urllib.request
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from quiesce import AsyncQuiesce

SUITE = Path(__file__).parents[2] / "conformance"
RUNTIME = Path(__file__).parents[2] / "node_modules/.bin/quiesce"
INHERITED = [name for name in os.environ if re.match(r"(ANTHROPIC|OPENAI|DEEPSEEK|QUIESCE)_", name)]


def vectors(folder: str) -> dict[str, Any]:
    return json.loads((SUITE / "vectors" / folder / "cases.json").read_bytes())


def filled_in(value: Any, names: Mapping[str, str]) -> Any:
    """The value with what it names in braces put in."""
    return json.loads(re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], found[0]), json.dumps(value)))


class ModelServer:
    """A server that plays a script, as a process of its own."""

    def __init__(self, port: int) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.base_url = f"{self.origin}/v1"

    async def play(self, script: list[dict[str, Any]]) -> None:
        """Begins anew with another script."""
        await asyncio.to_thread(self._ask, "/script", json.dumps(script).encode())

    async def requests(self) -> list[dict[str, Any]]:
        """What it was asked since the script began."""
        return await asyncio.to_thread(self._ask, "/requests")

    def _ask(self, path: str, body: bytes | None = None) -> Any:
        with urllib.request.urlopen(self.origin + path, body) as answer:
            return json.load(answer)


@asynccontextmanager
async def model_server(kind: str, script: list[dict[str, Any]]) -> AsyncGenerator[ModelServer]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(script, file)
        file.flush()
        pipe = asyncio.subprocess.PIPE
        program = str(SUITE / "fixtures" / f"{kind}.mjs")
        server = await asyncio.create_subprocess_exec("node", program, file.name, stdin=pipe, stdout=pipe)
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield ModelServer(int(await server.stdout.readline()))
        finally:
            server.stdin.close()
            assert await server.wait() == 0


def launch(
    folder: Path,
    model: str,
    *,
    runtime: Path = RUNTIME,
    config: Mapping[str, Any],
    env: Mapping[str, str] | None = None,
    on_stderr: Callable[[str], object] | None = None,
) -> AsyncQuiesce:
    """A runtime with the user's configuration; it inherits no vendor's key or address from whoever runs the tests."""
    (folder / "config" / "quiesce").mkdir(parents=True)
    (folder / "config" / "quiesce" / "config.yaml").write_text(json.dumps(config))
    return AsyncQuiesce.launch(
        runtime=runtime,
        store="memory:",
        log_level="trace",
        model=model,
        cwd=folder,
        env={**dict.fromkeys(INHERITED, ""), "XDG_CONFIG_HOME": str(folder / "config"), **(env or {})},
        on_stderr=on_stderr,
    )
