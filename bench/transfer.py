"""`majlis export` and `majlis import` of a space with a million messages."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from bench.filling import fill
from bench.results import Result
from bench.scenes import set_scene
from bench.servers import RUN
from bench.stage import Stage


def measure(stage: Stage) -> list[Result]:
    count = 20_000 if stage.quick else 1_000_000
    scene = set_scene(stage, people=1)
    fill(stage.engine, scene, scene.spaces[0], count)
    file = f"{stage.folder}/export.jsonl"
    exported = _run(str(scene.folder), scene.url, "export", "--output", file)
    imported = _run(tempfile.mkdtemp(dir=stage.folder), stage.fresh(), "import", file)
    size = f"{count:,} messages"
    return [
        Result(f"export of {size}", stage.engine, count / exported, "/s"),
        Result(f"import of {size}", stage.engine, count / imported, "/s"),
    ]


def _run(folder: str, url: str, *command: str) -> float:
    started = time.perf_counter()
    where = ["--data-dir", folder, "--database-url", url]
    arguments = [sys.executable, "-c", RUN, *command, *where]
    subprocess.run(arguments, check=True, stderr=subprocess.DEVNULL, env={**os.environ, "MAJLIS_LOG_LEVEL": "warning"})
    return time.perf_counter() - started
