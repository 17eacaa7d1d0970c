"""Words on a terminal while they are being written. One stream has the open line; whatever else is to be said breaks
it off, and the finished message is then printed whole."""

from __future__ import annotations

import sys
from datetime import datetime

import typer

from majlis.cli.terminal import safe


class Streams:
    def __init__(self) -> None:
        self._speakers: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        # Deltas may come after the message that ends their stream, or after its line was broken off.
        self._closed: set[str] = set()
        self._open: str | None = None
        self._shown: str | None = None

    def begin(self, stream_id: str, speaker: str, text: str = "") -> None:
        """It may be told again, by a new connection or for one: what is known stays."""
        self._speakers[stream_id] = speaker
        if len(text) >= len(self._texts.get(stream_id, "")):
            self._texts[stream_id] = text

    def add(self, stream_id: str, delta: str, offset: int) -> None:
        """An offset tells where the delta belongs: what is known already is skipped, what was missed ends the show."""
        known = self._texts.get(stream_id)
        if known is None or stream_id in self._closed or offset > len(known):
            return
        new = delta[len(known) - offset :]
        self._texts[stream_id] = known + new
        if self._open is None and known + new:
            self._open = stream_id
            time = typer.style(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}", dim=True)
            _write(f"{time}  {typer.style(self._speakers[stream_id], bold=True)}: {_indented(known + new)}")
        elif self._open == stream_id:
            _write(_indented(new))

    def end(self, stream_id: str | None, text: str) -> None:
        """The message has come: its line is completed if that is all it lacks."""
        if stream_id is None:
            return
        written = self._texts.pop(stream_id, "")
        self._closed.add(stream_id)
        if self._open != stream_id:
            return
        if text.startswith(written):
            _write(f"{_indented(text[len(written) :])}\n")
            self._open, self._shown = None, text
        else:
            self.break_off()

    def was_shown(self, text: str) -> bool:
        """Is this the message whose line has just been completed?"""
        shown, self._shown = self._shown, None
        return shown == text

    def take_back(self, stream_id: str) -> None:
        self._texts.pop(stream_id, None)
        self._closed.add(stream_id)
        if self._open == stream_id:
            _write(typer.style(" … (taken back)\n", dim=True))
            self._open = None

    def break_off(self) -> None:
        if self._open is not None:
            self._closed.add(self._open)
            _write(typer.style(" …\n", dim=True))
            self._open = None


def _indented(text: str) -> str:
    """As `tail` prints a text: its further lines look like no message of their own."""
    return safe(text.replace("\r\n", "\n")).replace("\n", "\n    ")


def _write(text: str) -> None:
    typer.echo(text, nl=False)
    sys.stdout.flush()
