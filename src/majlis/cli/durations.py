"""How long from now, as people write it: 90s, 45m, 12h, 30d, 2w, or a full ISO 8601 time."""

from __future__ import annotations

import re

import typer

from majlis import clock

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LONGEST_YEARS = 100


def moment_from_now(text: str) -> clock.Millis:
    found = re.fullmatch(r"([0-9]{1,9})([smhdw])", text.strip())
    at = clock.now() + int(found[1]) * _SECONDS[found[2]] * 1000 if found else _moment(text)
    if not 0 < at - clock.now() < _LONGEST_YEARS * 365 * 86_400_000:
        raise typer.BadParameter(f"{text!r} is not in the future, or too far in it.")
    return at


def _moment(text: str) -> clock.Millis:
    try:
        return clock.parse_iso(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is neither a time from now (30d, 12h, 45m) nor a time like 2027-01-31T12:00:00Z."
        ) from None
