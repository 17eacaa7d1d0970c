"""Limits of an agent (J6, M11, T8, T12). At a limit a run queues or ends; no event is lost.

`runs/claim/capacity.py` applies the limit of runs at once, `runs/loop/loop.py` those of each run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.agents.config.types import Maybe, Wire

_DAY = 24 * 3600
MAX_TOOL_WAIT = 30 * _DAY

Count = Annotated[int, Field(ge=1, le=1000)]
Seconds = Annotated[int, Field(ge=1, le=3600)]


class Limits(Wire):
    concurrent_runs: Count = 5
    """Runs at the same time; further events queue."""
    steps: Count = 20
    """Model requests per run."""
    tokens_per_run: Annotated[int, Field(ge=1, le=100_000_000)] = 200_000
    """Input and output tokens per run."""
    run_seconds: Annotated[int, Field(ge=1, le=7 * _DAY)] = 1800
    """Working time per run; time spent waiting does not count."""
    wait_seconds: Annotated[int, Field(ge=1, le=7 * _DAY)] = 300
    """How long `send_message` with `wait` waits for a reply."""
    waits_per_run: Count = 10
    """Waits for a reply per run."""
    waiting_runs: Count = 5
    """Runs that wait for a reply at the same time."""
    tool_wait_seconds: Annotated[int, Field(ge=1, le=MAX_TOOL_WAIT)] = 600
    """How long an interactive tool waits for a person, unless the tool sets its own time."""
    first_byte_seconds: Maybe[Seconds] = None
    """How long a model may take until its answer begins. Default: 120, and 300 for a model server on this machine or
    in a private network, which may read a long prompt slowly."""
    idle_seconds: Maybe[Seconds] = None
    """How long an answer that has begun may pause. Default: 60."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    """How many runs may fail on an event before it counts as failed."""


class Consciousness(Wire):
    """How much of its past a `consciousness` agent sees."""

    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    """Above this size the oldest cycles are replaced by their summaries."""
    min_recent_cycles: Count = 10
    """This many recent cycles are never replaced by summaries."""
