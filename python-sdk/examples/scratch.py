"""Owns what surrounds the examples: a directory to work in and a store, both temporary, and the model that answers."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Scratch:
    """Where an example works, where its sessions are kept, and which model answers."""

    workspace: Path
    store: str
    model: str


@contextmanager
def scratch(files: Mapping[str, str] | None = None) -> Generator[Scratch]:
    """Makes a workspace that holds `files` (contents by name), and removes it in the end.

    QUIESCE_STORE and QUIESCE_MODEL, where they are set, say which store and which model are used.
    """
    # Ctrl-C unwinds a Python program by itself; so does SIGTERM from here on, and nothing is left behind.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    model = os.environ.get("QUIESCE_MODEL")
    if not model:
        print("(The scripted demo model answers: no network, no key. For a real one, for example:", file=sys.stderr)
        print("   export QUIESCE_MODEL=deepseek/deepseek-chat DEEPSEEK_API_KEY=your-key)", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="quiesce-example-", ignore_cleanup_errors=True) as directory:
        workspace = Path(directory).resolve() / "workspace"
        workspace.mkdir()
        for name, content in (files or {}).items():
            (workspace / name).write_text(content)
        store = os.environ.get("QUIESCE_STORE") or f"sqlite:{directory}/quiesce.db"
        yield Scratch(workspace, store, model or "scripted/demo")
