"""Both kinds of stream."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["one space", "all spaces"])
def whole(request: pytest.FixtureRequest) -> bool:
    """Both kinds of stream keep the same promises."""
    return bool(request.param == "all spaces")
