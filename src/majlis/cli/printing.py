"""How commands print: tables for people, JSON for programs, notes and progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from majlis.cli.terminal import safe, safe_line

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE_SECONDS = 1.0
# Nobody looks at a pipe; nothing needs to be wrapped there.
_PIPE_WIDTH = 300


def print_line(text: str) -> None:
    typer.echo(text)
    sys.stdout.flush()


def note(text: str) -> None:
    """For people, beside the data that goes to stdout."""
    typer.echo(f"majlis: {safe_line(text)}", err=True)


def print_json(value: object, indent: int | None = 2) -> None:
    """UTF-8, as JSON is, whatever the terminal's encoding; harmless to the terminal all the same."""
    text = safe(json.dumps(value, ensure_ascii=False, indent=indent))
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], nothing: str) -> None:
    """`nothing` is what is said instead of an empty table. The first column, an id, is never cut."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(safe_line(cell)) for cell in row))
    if not table.row_count:
        print_line(nothing)
        return
    console = _console()
    # Not printed by Rich itself, which ends the process when nobody reads on.
    with console.capture() as drawn:
        console.print(table)
    print_line("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def shown_time(iso: str | None) -> str:
    """In the time zone of whoever reads it."""
    return "never" if iso is None else f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M:%S}"


@asynccontextmanager
async def working(what: str) -> AsyncIterator[None]:
    """A sign of life on the terminal for work that takes longer than a second."""
    import asyncio

    async def show() -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        await asyncio.sleep(_PATIENCE_SECONDS)
        parts = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with Progress(*parts, console=_console(stderr=True), transient=True) as progress:
            progress.add_task(what, total=None)
            await asyncio.Event().wait()

    shown = asyncio.create_task(show()) if sys.stderr.isatty() else None
    try:
        yield
    finally:
        if shown is not None:
            shown.cancel()
            await asyncio.gather(shown, return_exceptions=True)


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
