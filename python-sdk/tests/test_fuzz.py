"""This SDK under frames of anything: scenarios come from the suite's generator, with what must become of every call
(FR-1, FR-4, RUN-2, RUN-10, SUB-5).
"""

from __future__ import annotations

import base64
import collections
import gc
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzz_player import Json, play
from quiesce import AsyncQuiesce, ConnectionClosedError

GENERATOR = Path(__file__).parents[2] / "conformance/fuzz/print-scenarios.mjs"
CUT_SHORT = GENERATOR.with_name("cut-short.mjs")
RIGHT = ("a\u2028b\u2029c\u0085d \U0001f9ed \u6f22", [1, 2, 3, 4, 5, 6, 7, 8, 9])
BY_HAND = os.environ.get("FUZZ_FRAMES", "") != ""
FRAMES = int(os.environ.get("FUZZ_FRAMES") or 12_000)
SEED = int(os.environ.get("FUZZ_SEED") or 1)
TRIES = 200
"""Attempts at making a failure small: one that is told late helps nobody."""

LOOK_EVERY = 60
MOST_GROWTH = 20_000
"""Objects by which the interpreter may grow between two looks at it, once it is warm."""


async def test_a_sdk_keeps_its_word_through_frames_of_anything() -> None:
    frames, cases, normal = 0, 0, 0
    counts: collections.Counter[str] = collections.Counter()
    began, worked = time.monotonic(), time.process_time()
    with subprocess.Popen(command(0, FRAMES), stdout=subprocess.PIPE) as generator:  # noqa: ASYNC220 (nothing else runs)
        for scenario in map(json.loads, generator.stdout or []):
            problems = await problems_of(scenario)
            assert problems == [], await told(scenario, problems)
            cases += 1
            frames += sum(scenario["kinds"].values())
            for kind, count in scenario["kinds"].items():
                counts[f"sent: {kind}"] += count
            counts.update(f"calls: {each.get('error', 'ok')}" for each in scenario["expect"].values())
            if cases % LOOK_EVERY == 0:
                alive = objects()
                normal = alive if cases <= 2 * LOOK_EVERY else normal
                assert alive - normal < MOST_GROWTH, f"after seed {SEED}, index 0 to {scenario['index']}"
            if frames >= FRAMES:
                generator.terminate()
                break
    if BY_HAND:
        seconds, work = time.monotonic() - began, time.process_time() - worked
        print(f"Python SDK: {frames} frames in {cases} cases\n{seconds:.1f} s, of which {work:.1f} s of work here")  # noqa: T201
        for kind, count in sorted(counts.items()):
            print(f"  {count:9}  {kind}")  # noqa: T201
    assert frames >= FRAMES, f"the generator ended with status {generator.returncode}"


async def test_a_stream_may_end_anywhere() -> None:
    said: list[str] = []
    assert await cut_short({}, said.append) == RIGHT
    idle_by = int(said[0].removeprefix("idle by "))
    random = Random(SEED)
    for _ in range(FRAMES // 5000 if BY_HAND else 10):
        cut = random.choice([random.randint(0, idle_by + 40), random.randint(idle_by - 3, idle_by + 3)])
        env = {
            "FUZZ_CUT": cut,
            "FUZZ_CHUNK": random.choice([1, 7, 4000]),
            "FUZZ_END": random.choice(["exit", "kill", "close"]),
        }
        became = await cut_short({name: str(value) for name, value in env.items()})
        assert became == (RIGHT if cut >= idle_by else "ConnectionClosedError"), env


async def cut_short(env: dict[str, str], on_stderr: Callable[[str], object] | None = None) -> object:
    """What becomes of a run on a runtime that ends after so many bytes."""
    async with AsyncQuiesce.launch(runtime=str(CUT_SHORT), env=env, on_stderr=on_stderr) as quiesce:
        try:
            result = await (await quiesce.sessions.get("s-1")).run("hello")
        except ConnectionClosedError as error:
            return type(error).__name__
    return result.final_response, [event.seq for event in result.events]


def command(first: int, count: int, *kept: str) -> list[str]:
    return ["node", str(GENERATOR), "python", str(SEED), str(first), str(count), *kept]


async def problems_of(scenario: Json) -> list[str]:
    """What went wrong, an error that came out of the SDK's own reading included."""
    try:
        return await play(scenario)
    except Exception as error:  # whatever it is, it came out where bytes went in
        return [f"raised while bytes were read: {error!r}"]


async def told(scenario: Json, problems: list[str]) -> str:
    """What failed, in the fewest steps that still do."""
    index, kept = scenario["index"], list[int](scenario["removable"])
    least = scenario
    size, tries = max(1, len(kept) // 2), TRIES
    while size >= 1 and tries > 0:
        start = 0
        while start < len(kept) and tries > 0:
            tries -= 1
            fewer = kept[:start] + kept[start + size :]
            candidate = reduced(index, fewer)
            if signature(await problems_of(candidate)) == signature(problems):
                kept, least = fewer, candidate
            else:
                start += size
        size //= 2
    again = await problems_of(least)
    steps = "\n".join(shown(step) for step in least["steps"])
    return "\n".join(
        [f"seed {SEED}, index {index}:", *(again or problems)[:3], "the least that fails, bytes as latin1:", steps]
    )


def signature(problems: list[str]) -> str:
    """What tells one failure from another: its first words, without names and numbers."""
    return re.sub(r'\d+|"[^"]*"', "", problems[0])[:40] if problems else ""


def reduced(index: int, kept: list[int]) -> Json:
    places = ",".join(map(str, kept)) or "-1"
    return json.loads(subprocess.check_output(command(index, 1, places)))


def shown(step: dict[str, Any]) -> str:
    if "bytes" in step:
        step = {"send": base64.b64decode(step["bytes"]).decode("latin1")}
    return json.dumps(step)[:2000]


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())
