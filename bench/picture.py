"""`python -m bench.picture FILE.json FILE.svg`: draw what `bench --only peers --json FILE.json` has measured.

A bar for Majlis and for each peer, SQLite and PostgreSQL side by side on the same scale. The colours follow the
reader's light or dark mode, and the picture has its own background, so that it is readable on any page.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

US = "Majlis"
_TITLE = "The same work, done by Majlis and its peers"
_SUBTITLE = (
    "Three agents answer every message. The model answers at once, so its time is not included. Longer is better."
)
_UNIT = "runs per second"
_ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_PREFIX = "runs : "

_WIDTH, _MARGIN, _GAP = 860, 24, 36
_TOP, _ROW, _BAR, _FOOT = 118, 30, 18, 58
_NAME, _FIGURE = 104, 40
_PANEL = (_WIDTH - 2 * _MARGIN - _GAP) / 2
_LENGTH = _PANEL - _NAME - _FIGURE
# About as many lines.
_LINES = 5

# The colours of the web app (`web/app/src/styles/tokens.css`).
_STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #29231d }
text.title { font-size: 17px; font-weight: 600 }
text.engine { font-size: 14px; font-weight: 600 }
text.us { font-weight: 600 }
text.quiet { font-size: 12px; fill: #665b4e }
text.figure { paint-order: stroke; stroke: #fffefb; stroke-width: 6px }
.card { fill: #fffefb; stroke: #e5dccc }
.line { stroke: #ece5d8 }
.base { stroke: #92836d }
.bar { fill: #b9ad9c }
.bar.us { fill: #9a3d22 }
@media (prefers-color-scheme: dark) {
  text { fill: #ece4d8 }
  text.quiet { fill: #b4a797 }
  text.figure { stroke: #1c1916 }
  .card { fill: #1c1916; stroke: #38322b }
  .line { stroke: #302b25 }
  .base { stroke: #83776a }
  .bar { fill: #6b6156 }
  .bar.us { fill: #e8977a }
}
"""

Bars = list[tuple[str, float]]


def draw(found: dict[str, Any]) -> str:
    engines = {engine: bars for engine in _ENGINES if (bars := _bars(found, engine))}
    scale = _scale(max(value for bars in engines.values() for _, value in bars))
    rows = max(map(len, engines.values()))
    height = _TOP + rows * _ROW + _FOOT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
        ' role="img" aria-labelledby="title">',
        f'<title id="title">{escape(_told(engines))}</title>',
        f"<style>{_STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="title" x="{_MARGIN}" y="36">{_TITLE}</text>',
        f'<text class="quiet" x="{_MARGIN}" y="57">{_SUBTITLE}</text>',
    ]
    for number, (engine, bars) in enumerate(engines.items()):
        lines += _panel(_MARGIN + number * (_PANEL + _GAP), _ENGINES[engine], bars, rows, scale)
    return "\n".join([*lines, "</svg>", ""])


def _bars(found: dict[str, Any], engine: str) -> Bars:
    """The fastest first."""
    results = [each for each in found["results"] if each["engine"] == engine and each["measure"].startswith(_PREFIX)]
    bars = {each["measure"].removeprefix(_PREFIX): each["peer"] for each in results if each["peer"] is not None}
    if bars:
        bars[US] = results[0]["ours"]
    return sorted(bars.items(), key=lambda bar: -bar[1])


def _told(engines: dict[str, Bars]) -> str:
    """The figures, for readers who do not see the bars."""
    told = (f"{_ENGINES[engine]}: {', '.join(f'{n} {v:.0f}' for n, v in bars)}" for engine, bars in engines.items())
    return f"{_TITLE}, in {_UNIT}. {'. '.join(told)}."


def _scale(most: float) -> list[int]:
    """Where lines are, from 0 to past the longest bar: steps of 1, 2 or 5 times a power of ten."""
    rough = most / _LINES
    power = 10 ** math.floor(math.log10(rough))
    step = max(1, next(int(power * each) for each in (1, 2, 5, 10) if power * each >= rough))
    return list(range(0, math.ceil(most / step) * step + 1, step))


def _panel(left: float, engine: str, bars: Bars, rows: int, scale: list[int]) -> Iterator[str]:
    zero, bottom = left + _NAME, _TOP + rows * _ROW
    each = _LENGTH / scale[-1]
    yield f'<text class="engine" x="{left:g}" y="{_TOP - 22}">{engine}</text>'
    for value in scale:
        x = zero + value * each
        kind = "line" if value else "base"
        yield f'<line class="{kind}" x1="{x:g}" x2="{x:g}" y1="{_TOP - 6}" y2="{bottom}"/>'
        yield f'<text class="quiet" text-anchor="middle" x="{x:g}" y="{bottom + 18}">{value}</text>'
    middle = zero + _LENGTH / 2
    yield f'<text class="quiet" text-anchor="middle" x="{middle:g}" y="{bottom + 38}">{_UNIT}</text>'
    for number, (name, rate) in enumerate(bars):
        yield from _bar(zero, _TOP + number * _ROW, name, rate, rate * each)


def _bar(zero: float, top: float, name: str, rate: float, length: float) -> Iterator[str]:
    who, line = (" us" if name == US else ""), top + _BAR / 2 + 4.5
    yield f'<text class="name{who}" text-anchor="end" x="{zero - 10:g}" y="{line:g}">{escape(name)}</text>'
    yield f'<rect class="bar{who}" x="{zero:g}" y="{top:g}" width="{length:.1f}" height="{_BAR}" rx="2"/>'
    yield f'<text class="figure{who}" x="{zero + length + 7:.1f}" y="{line:g}">{rate:.0f}</text>'


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(draw(json.loads(source.read_text("utf-8"))), "utf-8")
