"""Pictures of figures in the docs show the figures that are checked in beside them."""

from __future__ import annotations

import json

from bench.picture import draw
from tests.docs.codes import ROOT

IMAGES = ROOT / "docs/images"


def test_the_picture_of_the_peers_is_drawn_from_the_figures_beside_it() -> None:
    found = json.loads((IMAGES / "speed-peers.json").read_text("utf-8"))
    assert (IMAGES / "speed-peers.svg").read_text("utf-8") == draw(found), (
        "run: python -m bench.picture docs/images/speed-peers.json docs/images/speed-peers.svg"
    )


def test_a_peer_without_a_figure_is_not_in_the_picture() -> None:
    ours = {"measure": "runs : DBOS", "engine": "sqlite", "ours": 264.2, "peer": 109.4}
    missing = {"measure": "runs : LangGraph", "engine": "sqlite", "ours": 264.2, "peer": None}
    drawn = draw({"results": [ours, missing]})
    assert "DBOS" in drawn
    assert ">264<" in drawn
    assert "LangGraph" not in drawn
    assert "PostgreSQL" not in drawn
