"""Output for the terminal: tables for people, JSON for programs, notes and progress on stderr.

Text from others is escaped, so that it cannot control the terminal or imitate other lines.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from getpass import getpass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

_SHOW_AFTER_SECONDS = 1.0
# Output to a pipe is not wrapped.
_PIPE_WIDTH = 300
# Control characters, surrogates, line and paragraph separators, marks that change the direction of text, and the
# invisible "tag" characters. The joiners U+200C and U+200D stay: many scripts and emoji need them.
_DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """Escapes everything that could act on a terminal, except tabs and line feeds."""
    return _DANGEROUS.sub(lambda found: _escaped(found[0]), text)


def safe_line(text: str) -> str:
    return safe(text).replace("\n", "\\n").replace("\t", " ")


def indented(text: str) -> str:
    """A message, with further lines indented so that none of them looks like another message."""
    return safe(text.replace("\r\n", "\n")).replace("\n", "\n    ")


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def local_time(iso: str | None) -> str:
    return "never" if iso is None else f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M:%S}"


def print_line(text: str) -> None:
    typer.echo(text)
    sys.stdout.flush()


def ask_hidden(label: str) -> str:
    """Asks for a key or password without echo. The prompt appears once typing is hidden, since the switch drops what
    was typed before it. (`typer.prompt` shows it earlier.)
    """
    try:
        return getpass(f"{label}: ")
    except EOFError:
        raise typer.Abort from None


def note(text: str) -> None:
    """A line on stderr, next to the data on stdout."""
    typer.echo(f"majlis: {safe_line(text)}", err=True)


def print_json(value: object, indent: int | None = 2) -> None:
    """Writes UTF-8, whatever the encoding of the terminal."""
    text = safe(json.dumps(value, ensure_ascii=False, indent=indent))
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def print_result(value: object, as_json: bool, text: str) -> None:
    if as_json:
        print_json(value)
    else:
        print_line(safe_line(text))


def print_list(value: object, as_json: bool, columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> None:
    if as_json:
        print_json(value)
    else:
        print_table(columns, rows, empty)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str = "") -> None:
    """Prints `empty` if there are no rows. The first column, an id, is never wrapped."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(safe_line(cell)) for cell in row))
    if not table.row_count:
        print_line(safe_line(empty))
        return
    console = _console()
    # Rich would end the process if the reader of a pipe is gone.
    with console.capture() as drawn:
        console.print(table)
    print_line("\n".join(line.rstrip() for line in drawn.get().splitlines()))


@asynccontextmanager
async def working(title: str) -> AsyncIterator[None]:
    """A spinner on the terminal for work that takes longer than a second."""
    import asyncio

    async def show() -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        await asyncio.sleep(_SHOW_AFTER_SECONDS)
        parts = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with Progress(*parts, console=_console(stderr=True), transient=True) as progress:
            progress.add_task(title, total=None)
            await asyncio.Event().wait()

    shown = asyncio.create_task(show()) if sys.stderr.isatty() else None
    try:
        yield
    finally:
        if shown is not None:
            shown.cancel()
            await asyncio.gather(shown, return_exceptions=True)


def _escaped(character: str) -> str:
    """Escapes as JSON does, so that escaped JSON stays the same JSON."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
